//! What must hold whatever systems do: no record is lost or delivered twice, and stepping does not change a run.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use promenade_kernel::{Ctx, Either, EventTag, Simulation, SystemResult, Time, join, select};
use proptest::prelude::*;
use serde_json::{Value, json};

#[derive(Clone)]
struct Number(u64);

impl EventTag for Number {
    const TAG: &'static str = "Number";

    fn to_json(&self) -> Value {
        json!(self.0)
    }
}

#[derive(Clone, Copy, Debug)]
enum Action {
    Wait(u64),
    Put,
    /// Take a number with this remainder of 3, but no longer than this.
    TakeWithin(u64, u64),
    /// Two takes at once, the loser is dropped.
    TakeEither,
    /// Two takes at once, both are awaited.
    TakeBoth,
    /// Join the waiting list and leave it without looking.
    TakeAndDrop,
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        (0..3_u64).prop_map(Action::Wait),
        Just(Action::Put),
        Just(Action::Put),
        (0..3_u64, 0..3_u64).prop_map(|(remainder, limit)| Action::TakeWithin(remainder, limit)),
        Just(Action::TakeEither),
        Just(Action::TakeBoth),
        Just(Action::TakeAndDrop),
    ]
}

#[derive(Default)]
struct Ledger {
    put: u64,
    taken: BTreeMap<u64, u32>,
}

async fn act(cx: Ctx, actions: Vec<Action>, ledger: Rc<RefCell<Ledger>>) -> SystemResult {
    let take = || cx.store().take::<Number>();
    let got = |number: u64| *ledger.borrow_mut().taken.entry(number).or_default() += 1;
    for action in actions {
        match action {
            Action::Wait(nanos) => cx.timeout(Duration::from_nanos(nanos)).await,
            Action::Put => {
                ledger.borrow_mut().put += 1;
                let number = ledger.borrow().put;
                cx.store().put(Number(number))?;
            }
            Action::TakeWithin(remainder, limit) => {
                let wait = take().filter(move |n| n.0 % 3 == remainder);
                if let Some(number) = cx.within(Duration::from_nanos(limit), wait).await {
                    got(number.0);
                }
            }
            Action::TakeEither => match select(take(), take()).await {
                Either::First(number) | Either::Second(number) => got(number.0),
            },
            Action::TakeBoth => {
                join(async { got(take().await.0) }, async { got(take().await.0) }).await;
            }
            Action::TakeAndDrop => drop(take().into_future()),
        }
    }
    Ok(())
}

fn build(scripts: &[Vec<Action>], removed: Option<usize>) -> (Simulation, Rc<RefCell<Ledger>>) {
    let ledger = Rc::new(RefCell::new(Ledger::default()));
    let mut sim = Simulation::builder().fps(3e8).record_events().build();
    for (index, script) in scripts.iter().enumerate() {
        let (script, ledger) = (script.clone(), Rc::clone(&ledger));
        sim.add_event(&index.to_string(), |cx| act(cx, script, ledger)).expect("a new name");
    }
    if let Some(victim) = removed {
        let remove = async move |cx: Ctx| {
            cx.timeout(Duration::from_nanos(2)).await;
            cx.remove_system(&victim.to_string())?;
            Ok(())
        };
        sim.add_event("remover", remove).expect("a new name");
    }
    (sim, ledger)
}

proptest! {
    #[test]
    fn the_store_loses_and_doubles_nothing(
        scripts in prop::collection::vec(prop::collection::vec(action(), 0..12), 1..7),
        removal in any::<Option<prop::sample::Index>>(),
    ) {
        let (mut sim, ledger) = build(&scripts, removal.map(|index| index.index(scripts.len())));
        sim.run_until(Time::from_nanos(100)).expect("no errors");
        let untaken: usize = sim.store().untaken().iter().map(|(_, count)| count).sum();
        let ledger = ledger.borrow();
        prop_assert!(ledger.taken.values().all(|&times| times == 1));
        prop_assert_eq!(ledger.taken.len() + untaken, ledger.put as usize);
    }

    #[test]
    fn stepping_does_not_change_a_run(
        scripts in prop::collection::vec(prop::collection::vec(action(), 0..12), 1..7),
        stops in prop::collection::vec(0..40_i64, 0..8),
    ) {
        let (mut at_once, first) = build(&scripts, None);
        at_once.run_until(Time::from_nanos(40)).expect("no errors");
        let (mut stepped, second) = build(&scripts, None);
        let mut stops = stops;
        stops.sort();
        for stop in stops {
            stepped.run_until(Time::from_nanos(stop)).expect("no errors");
        }
        stepped.run_until(Time::from_nanos(40)).expect("no errors");
        prop_assert_eq!(at_once.events(), stepped.events());
        prop_assert_eq!(at_once.report(), stepped.report());
        prop_assert_eq!(&first.borrow().taken, &second.borrow().taken);
    }

    #[test]
    fn every_subscriber_sees_every_record_in_order(
        naps in prop::collection::vec(0..4_u64, 0..20),
        paces in prop::collection::vec(0..4_u64, 1..5),
    ) {
        let mut sim = Simulation::builder().build();
        let mut logs = Vec::new();
        for (index, pace) in paces.into_iter().enumerate() {
            let log = Rc::new(RefCell::new(Vec::new()));
            logs.push(Rc::clone(&log));
            let listen = async move |cx: Ctx| {
                let mut numbers = cx.store().subscribe::<Number>();
                loop {
                    // A wait that loses this race must not cost a record.
                    if let Some(number) = cx.within(Duration::from_nanos(pace), numbers.recv()).await {
                        log.borrow_mut().push(number.0);
                    }
                    cx.timeout(Duration::from_nanos(pace + 1)).await;
                }
            };
            sim.add_event(&index.to_string(), listen).expect("a new name");
        }
        let count = naps.len() as u64;
        let speak = async move |cx: Ctx| {
            for (number, nap) in (0..).zip(naps) {
                cx.store().broadcast(Number(number))?;
                cx.timeout(Duration::from_nanos(nap)).await;
            }
            Ok(())
        };
        sim.add_event("speaker", speak).expect("a new name");
        sim.run_until(Time::from_nanos(500)).expect("no errors");
        for log in logs {
            prop_assert_eq!(log.borrow().clone(), (0..count).collect::<Vec<_>>());
        }
        prop_assert!(sim.store().untaken().is_empty());
    }
}
