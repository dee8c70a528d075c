//! The acceptance checks 1 to 10 of the kernel specification, section 13, one test each.

use std::cell::RefCell;
use std::fmt::Debug;
use std::rc::Rc;
use std::time::Duration;

use promenade_kernel::{
    CleanupFailed, Ctx, Either, End, Entity, EventTag, FrameCtx, FrameSystem, NoSuchEntity, Simulation,
    Status, Store, StoreError, SystemResult, Time, ZeroTimeLoop, select,
};
use serde_json::Value;

struct Number(i64);

impl EventTag for Number {
    const TAG: &'static str = "Number";
}

/// Where systems of a test write down what they do.
struct Log<T>(Rc<RefCell<Vec<T>>>);

impl<T> Clone for Log<T> {
    fn clone(&self) -> Self {
        Self(Rc::clone(&self.0))
    }
}

impl<T: PartialEq + Debug> Log<T> {
    fn new() -> Self {
        Self(Rc::default())
    }

    fn add(&self, line: impl Into<T>) {
        self.0.borrow_mut().push(line.into());
    }

    #[track_caller]
    fn check<U: Debug>(&self, expected: &[U])
    where
        T: PartialEq<U>,
    {
        assert_eq!(*self.0.borrow(), expected);
    }
}

/// A frame system made from a closure.
struct Frame<F>(&'static str, F);

impl<F: FnMut(&mut FrameCtx<'_>) -> SystemResult> FrameSystem for Frame<F> {
    fn name(&self) -> &str {
        self.0
    }

    fn process(&mut self, cx: &mut FrameCtx<'_>) -> SystemResult {
        (self.1)(cx)
    }
}

fn at(secs: f64) -> Time {
    Time::from_secs_f64(secs)
}

fn secs(secs: f64) -> Duration {
    Duration::from_secs_f64(secs)
}

#[test]
fn check_1_store_order() {
    let log = Log::<String>::new();
    let mut sim = Simulation::builder().build();
    let even = |n: i64| n % 2 == 0;
    let takers = [("A", even as fn(i64) -> bool), ("B", |_| true), ("C", even)];
    for (name, accept) in takers {
        let log = log.clone();
        sim.add_event(name, async move |cx| {
            loop {
                let number = cx.store().take::<Number>().filter(move |n| accept(n.0)).await;
                log.add(format!("{name}{}", number.0));
            }
        })
        .expect("a new name");
    }
    sim.add_event("putter", async |cx| {
        for n in [1, 2, 3, 4, 6, 8] {
            cx.store().put(Number(n))?;
        }
        cx.timeout(secs(1.0)).await;
        for n in [10, 12] {
            cx.store().put(Number(n))?;
        }
        Ok(())
    })
    .expect("a new name");
    sim.run().expect("no errors");
    log.check(&["A2", "B1", "C4", "A6", "B3", "C8", "A10", "B12"]);
}

#[test]
fn check_2_recorded_store_scenarios() {
    let scenarios: Value =
        serde_json::from_str(include_str!("data/store_scenarios.json")).expect("the recorded file is JSON");
    let scenarios = scenarios.as_array().expect("a list");
    assert_eq!(scenarios.len(), 400);
    for (index, scenario) in scenarios.iter().enumerate() {
        let expected = numbers(&scenario["deliveries"]);
        assert_eq!(replay(scenario), expected, "scenario {index}");
    }
}

fn numbers(list: &Value) -> Vec<i64> {
    list.as_array().expect("a list").iter().map(|n| n.as_i64().expect("an integer")).collect()
}

fn replay(scenario: &Value) -> Vec<i64> {
    let scripts = scenario["processes"].as_array().expect("a list");
    let scripts: Rc<[String]> = scripts.iter().map(|text| text.as_str().expect("text").to_owned()).collect();
    let log = Log::<i64>::new();
    let mut sim = Simulation::builder().build();
    for number in numbers(&scenario["start"]) {
        let (scripts, log) = (scripts.clone(), log.clone());
        sim.add_event(&number.to_string(), |cx| run_script(cx, scripts, number, log)).expect("a new name");
    }
    sim.run().expect("no errors");
    log.0.take()
}

async fn run_script(cx: Ctx, scripts: Rc<[String]>, number: i64, log: Log<i64>) -> SystemResult {
    for instruction in scripts[usize::try_from(number)?].split(' ') {
        let (verb, rest) = instruction.split_at(1);
        match verb {
            "t" => cx.timeout(Duration::from_nanos(rest.parse()?)).await,
            "p" => cx.store().put(Number(rest.parse()?))?,
            "g" => {
                let accept = parse_filter(rest);
                let taken = cx.store().take::<Number>().filter(move |n| accept(n.0)).await;
                for value in [cx.now().nanos(), number, taken.0] {
                    log.add(value);
                }
            }
            _ => {
                let child = Box::pin(run_script(cx.clone(), scripts.clone(), rest.parse()?, log.clone()));
                cx.spawn(child as std::pin::Pin<Box<dyn Future<Output = SystemResult>>>);
            }
        }
    }
    Ok(())
}

fn parse_filter(text: &str) -> Box<dyn Fn(i64) -> bool> {
    let (kind, rest) = text.split_at(1);
    let args: Vec<i64> = rest.split(',').filter_map(|n| n.parse().ok()).collect();
    match kind {
        "a" => Box::new(|_| true),
        "m" => Box::new(move |n| n % args[0] == args[1]),
        "l" => Box::new(move |n| n < args[0]),
        _ => Box::new(move |n| n > args[0]),
    }
}

#[test]
fn check_3_a_take_that_lost_a_race_swallows_nothing() {
    let log = Log::<(Time, i64)>::new();
    let mut sim = Simulation::builder().duration(secs(10.0)).build();
    let seen = log.clone();
    sim.add_event("energy", async move |cx| {
        loop {
            let race = select(cx.store().take::<Number>(), cx.timeout(secs(1.0)));
            if let Either::First(number) = race.await {
                seen.add((cx.now(), number.0));
            }
        }
    })
    .expect("a new name");
    sim.add_event("sender", async |cx| {
        for (time, n) in [(3.5, 1), (3.7, 2)] {
            cx.until(at(time)).await;
            cx.store().put(Number(n))?;
        }
        Ok(())
    })
    .expect("a new name");
    sim.run_until(at(9.9)).expect("no errors");
    log.check(&[(at(3.5), 1), (at(3.7), 2)]);
    assert_eq!(sim.store().waiting(), 1);
}

#[test]
fn check_4_frame_counts() {
    for (fps, duration, frames) in [
        (60.0, 10.0, 600),
        (30.0, 10.0, 300),
        (20.0, 5.0, 100),
        (1.0, 10.0, 10),
        (0.5, 3.0, 2),
        (0.0, 5.0, 0),
    ] {
        let log = Log::<u64>::new();
        let mut sim = Simulation::builder().fps(fps).duration(secs(duration)).build();
        let seen = log.clone();
        let count = move |cx: &mut FrameCtx<'_>| {
            seen.add(cx.frame());
            Ok(())
        };
        sim.add_frame(Frame("count", count)).expect("a new name");
        let report = sim.run().expect("no errors");
        assert_eq!(report.frames, frames, "{fps} FPS for {duration} s");
        log.check(&(0..frames).collect::<Vec<_>>());
        assert_eq!(report.time, at(duration));
        assert_eq!(report.warnings.len(), usize::from(fps == 0.0), "{:?}", report.warnings);
    }
}

#[test]
fn check_5_starting_order() {
    let log = Log::<&str>::new();
    let mut sim = Simulation::builder().fps(1.0).duration(secs(0.5)).build();
    for (name, priority) in [("a", 0), ("b", 5), ("c", 0), ("d", 5), ("e", -1)] {
        let log = log.clone();
        let note = move |_: &mut FrameCtx<'_>| {
            log.add(name);
            Ok(())
        };
        sim.add_frame(Frame(name, note)).expect("a new name").priority(priority);
    }
    for name in ["first", "second", "third"] {
        let log = log.clone();
        let start = async move |cx: Ctx| {
            assert_eq!(cx.now(), Time::ZERO);
            log.add(name);
            Ok(())
        };
        sim.add_event(name, start).expect("a new name");
    }
    sim.run().expect("no errors");
    log.check(&["first", "second", "third", "b", "d", "a", "c", "e"]);
}

/// Writes down the time every `period` seconds, for ever.
async fn tick(cx: Ctx, period: f64, log: Log<f64>) -> SystemResult {
    loop {
        log.add(cx.now().as_secs_f64());
        cx.timeout(secs(period)).await;
    }
}

#[test]
fn check_6_what_is_due_at_the_duration_does_not_run() {
    let log = Log::<f64>::new();
    let mut sim = Simulation::builder().duration(secs(3.0)).build();
    let seen = log.clone();
    sim.add_event("ticker", |cx| tick(cx, 1.0, seen)).expect("a new name");
    let report = sim.run().expect("no errors");
    log.check(&[0.0, 1.0, 2.0]);
    assert_eq!((report.end, report.time, sim.now()), (End::Duration, at(3.0), at(3.0)));
}

#[test]
fn check_7_the_kill_switch_ends_everything() {
    let (ticks, cleaned) = (Log::<f64>::new(), Log::<&str>::new());
    let mut sim = Simulation::builder().fps(4.0).duration(secs(6.0)).build();
    let note = |name: &'static str, fails: bool| {
        let cleaned = cleaned.clone();
        move || {
            cleaned.add(name);
            if fails { Err(format!("{name} is stuck").into()) } else { Ok(()) }
        }
    };
    sim.add_cleanup(note("user", false));
    let (seen, framed) = (ticks.clone(), ticks.clone());
    sim.add_event("ticker", |cx| tick(cx, 0.5, seen)).expect("a new name").cleanup(note("ticker", false));
    let frame = move |cx: &mut FrameCtx<'_>| {
        framed.add(cx.now().as_secs_f64());
        Ok(())
    };
    sim.add_frame(Frame("frames", frame)).expect("a new name");
    let killer = async |cx: Ctx| {
        cx.until(at(2.5)).await;
        cx.kill("enough");
        cx.kill("again");
        Ok(())
    };
    sim.add_event("killer", killer).expect("a new name").cleanup(note("killer", true));
    sim.add_event("last", |cx| tick(cx, 60.0, Log::new())).expect("a new name").cleanup(note("last", false));

    let error = sim.run().expect_err("one clean-up fails");
    cleaned.check(&["last", "killer", "ticker", "user"]);
    let failed = error.cause::<CleanupFailed>().expect("nothing else fails");
    assert_eq!((failed.0.len(), failed.0[0].system.as_str()), (1, "killer"));
    assert!(error.source.to_string().contains("killer is stuck"), "{}", error.source);
    assert!(ticks.0.borrow().iter().all(|&time| time <= 2.5));
    sim.kill("once more");
    assert_eq!(sim.report().end, End::Killed { reason: "enough".to_owned() });
    assert_eq!(sim.now(), at(2.5));
    assert_eq!(sim.run_until(at(6.0)).expect("over"), Status::Ended(sim.report().end));
    cleaned.check(&["last", "killer", "ticker", "user"]);
}

#[test]
fn check_8_a_failing_system_is_named() {
    let cleaned = Log::<&str>::new();
    let mut sim = Simulation::builder().fps(2.0).duration(secs(60.0)).build();
    let noted = cleaned.clone();
    sim.add_cleanup(move || {
        noted.add("user");
        Ok(())
    });
    let fails = async |cx: Ctx| {
        cx.timeout(secs(1.25)).await;
        Err("the battery is empty".into())
    };
    let noted = cleaned.clone();
    let clean_up = move || {
        noted.add("energy");
        Ok(())
    };
    sim.add_event("energy", fails).expect("a new name").cleanup(clean_up);
    let error = sim.run().expect_err("it fails");
    assert_eq!((error.system.as_str(), error.time), ("energy", at(1.25)));
    assert_eq!(error.source.to_string(), "the battery is empty");
    cleaned.check(&["energy", "user"]);
    assert_eq!(sim.report().end, End::Failed);
}

#[test]
fn check_9_a_full_store_and_a_zero_time_loop_are_reported() {
    let mut sim = Simulation::builder().build();
    let flood = async |cx: Ctx| {
        loop {
            cx.store().put(Number(0))?;
            cx.timeout(secs(1.0)).await;
        }
    };
    sim.add_event("flood", flood).expect("a new name");
    let error = sim.run().expect_err("nobody takes them");
    let full = StoreError::EventStoreFull { tag: "Number".to_owned(), count: 10_000, held: 10_000 };
    assert_eq!((error.system.as_str(), error.cause()), ("flood", Some(&full)));
    assert_eq!(error.time, at(10_000.0), "the 10 001st record is one too many");

    let mut sim = Simulation::builder().fps(10.0).build();
    let circles = async |cx: Ctx| {
        loop {
            cx.timeout(Duration::ZERO).await;
        }
    };
    sim.add_event("script", circles).expect("a new name");
    let error = sim.run().expect_err("time stands still");
    let circling = ZeroTimeLoop { system: "script".to_owned(), time: Time::ZERO, steps: 100_000 };
    assert_eq!(error.cause(), Some(&circling));
    assert!(sim.report().steps <= 100_001, "the bound on steps is what bounds the time");
}

#[test]
fn check_10_deletion_waits_for_the_next_frame() {
    let log = Log::<(u64, usize)>::new();
    let mut sim = Simulation::builder().fps(1.0).duration(secs(3.0)).build();
    let entities: Vec<Entity> = sim.with_world(|world| (0..3_u8).map(|n| world.spawn((n,))).collect());
    let doomed = entities[1];
    let delete = move |cx: &mut FrameCtx<'_>| {
        if cx.frame() == 1 {
            let mut visible = cx.query::<(Entity, &u8)>();
            for (entity, _) in visible.iter() {
                if entity == doomed {
                    cx.delete(entity)?;
                }
            }
        }
        Ok(())
    };
    sim.add_frame(Frame("delete", delete)).expect("a new name");
    let seen = log.clone();
    let look = move |cx: &mut FrameCtx<'_>| {
        seen.add((cx.frame(), cx.query::<&u8>().iter().count()));
        let stale = NoSuchEntity { entity: doomed };
        if cx.frame() == 2 {
            assert_eq!(cx.get::<u8>(doomed).map(|_| ()), Err(stale.into()));
            assert_eq!(cx.insert(doomed, (1_u16,)), Err(stale));
            assert_eq!(cx.delete(doomed), Err(stale));
        }
        Ok(())
    };
    sim.add_frame(Frame("look", look)).expect("a new name");
    sim.run().expect("no errors");
    log.check(&[(0, 3), (1, 3), (2, 2)]);
}

/// Keeps [`Store`] usable from outside a run, as bridges do.
#[test]
fn records_can_be_put_before_the_start() {
    let mut sim = Simulation::builder().build();
    let store: Store = sim.store();
    store.put(Number(4)).expect("room");
    let log = Log::<i64>::new();
    let seen = log.clone();
    sim.add_event("taker", async move |cx| {
        seen.add(cx.store().take::<Number>().await.0);
        Ok(())
    })
    .expect("a new name");
    sim.run().expect("no errors");
    log.check(&[4]);
}
