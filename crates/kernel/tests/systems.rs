//! Ordering, adding, removing and failing systems; what processes can wait for; tags and payloads.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use promenade_kernel::{
    Ctx, Either, EventTag, FrameCtx, FrameSystem, Kind, LoadError, Message, OnError, Pacer, Panicked, Phase,
    SIMULATION, SimError, Simulation, StoreError, SystemResult, Time, WorldHeld, join, join_all, select,
    select_all,
};
use serde_json::{Value, json};

type Log = Rc<RefCell<Vec<String>>>;

/// Writes down its name every frame, and does one thing more.
struct Noter<F = fn(&mut FrameCtx<'_>) -> SystemResult> {
    name: &'static str,
    log: Log,
    then: F,
}

fn noter(name: &'static str, log: &Log) -> Noter {
    Noter { name, log: Rc::clone(log), then: |_| Ok(()) }
}

impl<F: FnMut(&mut FrameCtx<'_>) -> SystemResult> FrameSystem for Noter<F> {
    fn name(&self) -> &str {
        self.name
    }

    fn process(&mut self, cx: &mut FrameCtx<'_>) -> SystemResult {
        self.log.borrow_mut().push(format!("{}{}", self.name, cx.frame()));
        (self.then)(cx)
    }

    fn clean_up(&mut self) -> SystemResult {
        self.log.borrow_mut().push(format!("{} cleaned", self.name));
        Ok(())
    }
}

fn framed(secs: u64) -> (Simulation, Log) {
    (Simulation::builder().fps(1.0).duration(Duration::from_secs(secs)).build(), Log::default())
}

fn lines(log: &Log) -> String {
    log.borrow().join(" ")
}

/// Runs one event system alone.
fn run_alone<F>(run: impl FnOnce(Ctx) -> F) -> Result<Simulation, SimError>
where
    F: Future<Output = SystemResult> + 'static,
{
    let mut sim = Simulation::builder().build();
    sim.add_event("alone", run).expect("a new name");
    sim.run().map(|_| sim)
}

/// Runs one event system alone, and gives what it returned.
fn run_alone_for<T: 'static, F>(run: impl FnOnce(Ctx) -> F) -> T
where
    F: Future<Output = SystemResult<T>> + 'static,
{
    let returned = Rc::new(RefCell::new(None));
    let result = Rc::clone(&returned);
    run_alone(|cx| {
        let run = run(cx);
        async move {
            *result.borrow_mut() = Some(run.await?);
            Ok(())
        }
    })
    .expect("no errors");
    returned.take().expect("it came to its end")
}

const fn nanos(nanos: u64) -> Duration {
    Duration::from_nanos(nanos)
}

#[test]
fn frame_systems_obey_after_every_and_phase() {
    let (mut sim, log) = framed(2);
    sim.add_frame(noter("path", &log)).expect("new").after("collision");
    sim.add_frame(noter("collision", &log)).expect("new").priority(-1).after("movement");
    sim.add_frame(noter("slow", &log)).expect("new").every(2);
    sim.add_frame(noter("gait", &log)).expect("new").phase(Phase::Gait);
    sim.add_frame(noter("ingress", &log)).expect("new").phase(Phase::Ingress);
    sim.add_frame(noter("movement", &log)).expect("new");
    sim.load().expect("an order exists");
    sim.run_until(Time::from_nanos(1_500_000_000)).expect("no errors");
    assert_eq!(
        lines(&log),
        "ingress0 gait0 slow0 movement0 collision0 path0 ingress1 gait1 movement1 collision1 path1"
    );
}

#[test]
fn impossible_orders_are_load_errors() {
    let fails = |build: fn(&mut Simulation, &Log)| {
        let (mut sim, log) = framed(1);
        build(&mut sim, &log);
        let error = sim.load().expect_err("impossible");
        error.cause::<LoadError>().expect("a load error").clone()
    };
    let cycle = fails(|sim, log| {
        sim.add_frame(noter("a", log)).expect("new").after("b");
        sim.add_frame(noter("b", log)).expect("new").after("a");
    });
    assert_eq!(cycle, LoadError::OrderCycle { names: vec!["a".to_owned(), "b".to_owned()] });
    let unknown = fails(|sim, log| {
        sim.add_frame(noter("a", log)).expect("new").after("colision");
    });
    assert!(unknown.to_string().contains("colision"), "{unknown}");
    let every = fails(|sim, log| {
        sim.add_frame(noter("a", log)).expect("new").every(0);
    });
    assert_eq!(every, LoadError::EveryBelowOne { name: "a".to_owned() });
    let (mut sim, log) = framed(1);
    sim.add_frame(noter("a", &log)).expect("new");
    let twice = sim.add_event("a", async |_| Ok(())).err();
    assert_eq!(twice, Some(LoadError::DuplicateSystem { name: "a".to_owned() }));
    let mut sim = Simulation::builder().on_error("nobody", OnError::Continue).build();
    assert!(matches!(sim.run().expect_err("unknown").cause(), Some(LoadError::UnknownSystem { .. })));
}

#[test]
fn a_system_added_in_a_frame_runs_from_the_next() {
    let (mut sim, log) = framed(3);
    let then = |cx: &mut FrameCtx<'_>| {
        if cx.frame() == 1 {
            cx.add_frame(noter("late", &Log::default()))?.priority(9);
        }
        Ok(())
    };
    sim.add_frame(Noter { name: "early", log: Rc::clone(&log), then }).expect("new");
    assert!(sim.step_frame().expect("frame 0"));
    let late = Rc::clone(&log);
    sim.add_event("adder", async move |cx| {
        cx.add_frame(noter("other", &late))?.priority(1);
        Ok(())
    })
    .expect("new");
    sim.run().expect("no errors");
    assert_eq!(
        lines(&log),
        "early0 other1 early1 other2 early2 other cleaned early cleaned",
        "what \"adder\" added between frames 0 and 1 runs in frame 1, before \"early\""
    );
}

#[test]
fn removal_cleans_up_at_once_and_a_frame_system_may_remove_itself() {
    let (mut sim, log) = framed(9);
    let then = |cx: &mut FrameCtx<'_>| match cx.frame() {
        1 => Ok(cx.remove_system("other")?),
        2 => Ok(cx.remove_system("self")?),
        _ => Ok(()),
    };
    sim.add_frame(Noter { name: "self", log: Rc::clone(&log), then }).expect("new");
    sim.add_frame(noter("other", &log)).expect("new").after("self");
    sim.run().expect("no errors");
    assert_eq!(lines(&log), "self0 other0 self1 other cleaned self2 self cleaned");
    assert!(sim.remove_system("self").is_err(), "the name is free again");
}

#[test]
fn a_removed_event_system_stops_where_it_waits() {
    let log = Log::default();
    let mut sim = Simulation::builder().build();
    let seen = Rc::clone(&log);
    let child = async move |cx: Ctx| {
        let inner = cx.clone();
        cx.spawn(async move {
            inner.timeout(nanos(10)).await;
            seen.borrow_mut().push("child".to_owned());
            Ok(())
        })
        .await;
        Ok(())
    };
    let seen = Rc::clone(&log);
    let clean_up = move || {
        seen.borrow_mut().push("cleaned".to_owned());
        Ok(())
    };
    sim.add_event("parent", child).expect("new").cleanup(clean_up);
    sim.run_until(Time::from_nanos(5)).expect("no errors");
    sim.remove_system("parent").expect("known");
    assert_eq!(lines(&log), "cleaned");
    sim.run().expect("no errors");
    assert_eq!(lines(&log), "cleaned");
}

#[test]
fn an_event_system_may_remove_itself() {
    let ran = Rc::new(Cell::new(0));
    let seen = Rc::clone(&ran);
    run_alone(async move |cx| {
        cx.remove_system("alone")?;
        seen.set(1);
        cx.timeout(nanos(1)).await;
        seen.set(2);
        Ok(())
    })
    .expect("no errors");
    assert_eq!(ran.get(), 1);
}

#[test]
fn systems_allowed_to_fail_are_removed_and_reported() {
    let log = Log::default();
    let mut sim = Simulation::builder()
        .fps(1.0)
        .duration(Duration::from_secs(2))
        .on_error("weak", OnError::Continue)
        .on_error("weaker", OnError::Continue)
        .build();
    let weak = Noter {
        name: "weak",
        log: Rc::clone(&log),
        then: |_: &mut FrameCtx<'_>| panic!("out of {}", "luck"),
    };
    sim.add_frame(weak).expect("new");
    sim.add_frame(noter("strong", &log)).expect("new");
    sim.add_event("weaker", async |_| Err("no more".into())).expect("new");
    let report = sim.run().expect("the others go on");
    assert_eq!(lines(&log), "weak0 weak cleaned strong0 strong1 strong cleaned");
    assert_eq!(report.warnings.len(), 2);
    assert!(report.warnings[0].contains("weaker") && report.warnings[0].contains("no more"));
    assert!(report.warnings[1].contains("out of luck"), "{}", report.warnings[1]);
}

#[test]
fn panics_are_caught_and_named() {
    let error = run_alone(async |_| panic!("no way")).err().expect("it panics");
    assert_eq!(error.cause(), Some(&Panicked { message: "no way".to_owned() }));
    let error = run_alone(async |cx| {
        cx.store().put(Ping(1))?;
        cx.store().take::<Ping>().filter(|_| panic!("bad filter")).await;
        Ok(())
    });
    let error = error.err().expect("the filter panics");
    assert_eq!((error.system.as_str(), error.source.to_string().as_str()), ("alone", "panicked: bad filter"));
}

#[test]
#[expect(clippy::await_holding_refcell_ref, reason = "the mistake under test")]
fn the_world_must_be_given_back_before_a_wait() {
    let held = WorldHeld { system: "alone".to_owned() };
    let error = run_alone(async |cx| {
        let world = cx.world()?;
        cx.timeout(nanos(1)).await;
        drop(world);
        Ok(())
    });
    assert_eq!(error.err().expect("held").cause(), Some(&held));
    let error = run_alone(async |cx| {
        let _world = cx.world()?;
        drop(cx.world()?);
        Ok(())
    });
    assert_eq!(error.err().expect("held").cause(), Some(&held));
    let mut sim = run_alone(async |cx| {
        let entity = cx.world()?.spawn((1_u8,));
        cx.world()?.insert(entity, (2_u16,))?;
        cx.world()?.delete(entity)?;
        assert!(cx.world()?.contains(entity));
        cx.timeout(nanos(1)).await;
        assert!(!cx.world()?.contains(entity), "without frames, deletions apply at the next wait");
        cx.world()?.insert(SIMULATION, ("the simulation itself",))?;
        Ok(())
    })
    .expect("no errors");
    assert!(sim.with_world(|world| world.get::<&str>(SIMULATION).is_ok()));
}

#[test]
fn structural_changes_of_a_frame_system_apply_when_it_returns() {
    let (mut sim, log) = framed(1);
    let then = |cx: &mut FrameCtx<'_>| {
        let entity = cx.spawn((7_u8,));
        cx.insert(entity, ('x',))?;
        assert_eq!(cx.query::<&u8>().iter().count(), 0);
        Ok(())
    };
    sim.add_frame(Noter { name: "spawner", log: Rc::clone(&log), then }).expect("new");
    let then = |cx: &mut FrameCtx<'_>| {
        assert_eq!(cx.query::<(&u8, &char)>().iter().count(), 1);
        cx.ordered::<&mut u8>(|_, value| *value += 1);
        Ok(())
    };
    sim.add_frame(Noter { name: "reader", log, then }).expect("new");
    sim.run().expect("no errors");
    assert_eq!(sim.with_world(|world| world.query::<&u8>().iter().copied().collect::<Vec<_>>()), [8]);
}

#[test]
fn a_process_can_wait_for_any_or_all() {
    run_alone(async |cx| {
        let go = cx.event::<u8>();
        let (one, two) = (cx.timeout(nanos(1)), cx.timeout(nanos(2)));
        assert_eq!(select(go.wait(), one).await, Either::Second(()));
        assert_eq!(cx.now(), Time::from_nanos(1));
        two.await;
        let (inner, fire) = (cx.clone(), go.clone());
        let process = cx.spawn(async move {
            inner.timeout(nanos(3)).await;
            assert!(fire.fire(5) && !fire.fire(6));
            Ok("done")
        });
        assert_eq!(join(go.wait(), process).await, (5, "done"));
        assert_eq!((cx.now(), go.wait().await, go.is_fired()), (Time::from_nanos(5), 5, true));
        let waits = [4, 2, 3].map(|n| cx.timeout(nanos(n)));
        assert_eq!(select_all(waits).await, (1, ()));
        assert_eq!(cx.now(), Time::from_nanos(7));
        join_all([4, 2, 3].map(|n| cx.timeout(nanos(n)))).await;
        assert_eq!(cx.now(), Time::from_nanos(11));
        cx.until(Time::ZERO).await;
        assert_eq!(cx.now(), Time::from_nanos(11), "the past is now");
        assert!(cx.within(nanos(2), cx.event::<()>().wait()).await.is_none());
        assert_eq!(join_all(Vec::<promenade_kernel::Timeout>::new()).await, []);
        Ok(())
    })
    .expect("no errors");
}

#[derive(Debug, PartialEq)]
struct Ping(i64);

impl EventTag for Ping {
    const TAG: &'static str = "Ping";

    fn from_json(json: &Value) -> Result<Self, String> {
        json["n"].as_i64().map(Self).ok_or_else(|| format!("expected {{\"n\": integer}}, found {json}"))
    }

    fn to_json(&self) -> Value {
        json!({ "n": self.0 })
    }
}

struct Impostor;

impl EventTag for Impostor {
    const TAG: &'static str = "Ping";
}

#[test]
fn text_and_types_meet_under_one_tag() {
    run_alone(async |cx| {
        let store = cx.store();
        store.put(Message::text("Ping", json!({ "n": 1 })))?;
        store.put(Message::text("Ping", json!("early and wrong")))?;
        assert_eq!(store.take::<Ping>().await.payload.0, 1);
        assert_eq!(store.untaken(), [], "what did not parse was dropped when the type turned up");
        let error = store.put(Message::text("Ping", json!([]))).expect_err("its type is known now");
        assert!(matches!(&error, StoreError::BadPayload { tag, .. } if tag == "Ping"), "{error}");
        store.put(Ping(3))?;
        let record = store.take_tag("Ping").await;
        assert_eq!((record.tag(), record.json(), record.kind()), ("Ping", json!({ "n": 3 }), Kind::Event));
        store.put(Message::text("Custom", json!(4)))?;
        assert_eq!(store.take_any().filter(|r| r.tag() == "Custom").await.json(), json!(4));
        assert_eq!(store.put(Impostor), Err(StoreError::TagClash { tag: "Ping".to_owned() }));
        Ok(())
    })
    .expect("no errors");
    let clash = run_alone(async |cx| {
        cx.store().register::<Ping>()?;
        cx.store().take::<Impostor>().await;
        Ok(())
    });
    let error = clash.err().expect("a listener of a taken tag");
    assert_eq!(error.cause(), Some(&StoreError::TagClash { tag: "Ping".to_owned() }));
}

#[test]
fn a_record_of_a_dropped_wait_goes_to_the_next_waiter() {
    let (received, waiting) = run_alone_for(async |cx| {
        let store = cx.store();
        let [first, second, third] = [(); 3].map(|()| store.take::<Ping>().into_future());
        store.put(Ping(1))?;
        cx.timeout(Duration::ZERO).await;
        drop(first);
        drop(second);
        Ok((third.await.0, store.waiting()))
    });
    assert_eq!((received, waiting), (1, 0));
}

#[test]
fn a_record_of_a_dropped_wait_goes_to_the_front() {
    let order = run_alone_for(async |cx| {
        let store = cx.store();
        let wait = store.take::<Ping>().into_future();
        for n in 1..4 {
            store.put(Ping(n))?;
        }
        cx.timeout(Duration::ZERO).await;
        drop(wait);
        let mut order = Vec::new();
        for _ in 0..3 {
            order.push(store.take::<Ping>().await.0);
        }
        Ok(order)
    });
    assert_eq!(order, [1, 2, 3]);
}

#[test]
fn frame_0_comes_after_all_starts_and_before_all_else() {
    let (mut sim, log) = framed(1);
    sim.add_frame(noter("frame", &log)).expect("new");
    for name in ["a", "b"] {
        let log = Rc::clone(&log);
        let run = async move |cx: Ctx| {
            log.borrow_mut().push(name.to_owned());
            cx.timeout(Duration::ZERO).await;
            log.borrow_mut().push(format!("{name} again"));
            Ok(())
        };
        sim.add_event(name, run).expect("new");
    }
    sim.run().expect("no errors");
    assert_eq!(log.borrow()[..5], ["a", "b", "frame0", "a again", "b again"]);
}

#[test]
fn errors_are_records_about_an_entity() {
    run_alone(async |cx| {
        let store = cx.store();
        let mut all = store.subscribe_any_error();
        store.put(Ping(1))?;
        store.put(Message::error(SIMULATION, Ping(2)))?;
        let error = store.take_error::<Ping>().await;
        assert_eq!((error.0, error.kind), (2, Kind::Error { entity: SIMULATION }));
        assert_eq!(store.take::<Ping>().await.0, 1);
        store.put(Message::text("Lost", json!("way")).about(SIMULATION))?;
        assert_eq!(store.take_any_error().await.tag(), "Lost");
        assert_eq!(all.recv().await.tag(), "Ping");
        assert_eq!(all.try_recv().map(|r| r.tag().to_owned()), Some("Lost".to_owned()));
        assert!(all.try_recv().is_none());
        Ok(())
    })
    .expect("no errors");
}

#[test]
fn untaken_records_expire_and_unread_ones_are_bounded() {
    let mut sim = Simulation::builder().max_items(3).ttl(nanos(10)).record_events().build();
    sim.add_event("sender", async |cx| {
        for n in 0..9 {
            cx.store().put(Ping(n))?;
            cx.timeout(nanos(5)).await;
        }
        assert_eq!(cx.store().take::<Ping>().await.0, 8, "the others are too old");
        let _slow = cx.store().subscribe::<Ping>();
        for n in 0..3 {
            cx.store().broadcast(Ping(n))?;
        }
        assert_eq!(cx.store().untaken(), []);
        let full = StoreError::EventStoreFull { tag: "Ping".to_owned(), count: 3, held: 3 };
        assert_eq!(cx.store().broadcast(Ping(3)), Err(full));
        Ok(())
    })
    .expect("new");
    let report = sim.run().expect("no errors");
    assert_eq!((report.expired, report.untaken), (8, vec![]));
    let events = sim.events();
    assert_eq!(events.len(), 12);
    assert_eq!((events[1].time, &events[1].payload), (Time::from_nanos(5), &json!({ "n": 1 })));
}

#[test]
fn random_streams_belong_to_names() {
    use promenade_kernel::SystemRng;
    use rand::Rng;
    let draw = |seed: u64, elsewhere: usize| {
        let mut sim = Simulation::builder().seed(seed).build();
        let drawn = Rc::new(Cell::new((0, 0)));
        let seen = Rc::clone(&drawn);
        sim.add_event("drawer", async move |cx| {
            let mut other: SystemRng = cx.rng("other");
            (0..elsewhere).for_each(|_| _ = other.next_u64());
            seen.set((cx.rng("drawer").next_u64(), cx.rng("drawer").next_u64()));
            Ok(())
        })
        .expect("new");
        sim.run().expect("no errors");
        drawn.get()
    };
    assert_eq!(draw(1, 0), draw(1, 5));
    assert_ne!(draw(1, 0), draw(2, 0));
    assert_ne!(draw(1, 0).0, draw(1, 0).1, "a stream goes on");
}

#[test]
fn a_pacer_sees_every_frame_and_changes_nothing() {
    struct Late(Rc<RefCell<Vec<Time>>>);

    impl Pacer for Late {
        fn before_frame(&mut self, time: Time) -> bool {
            self.0.borrow_mut().push(time);
            time > Time::ZERO
        }
    }

    let paced = Rc::default();
    let mut sim = Simulation::builder()
        .fps(2.0)
        .duration(Duration::from_secs(2))
        .pacer(Late(Rc::clone(&paced)))
        .build();
    let report = sim.run().expect("no errors");
    assert_eq!((report.frames, report.late_frames), (4, 3));
    assert_eq!(*paced.borrow(), [0, 500, 1000, 1500].map(|ms| Time::from_nanos(ms * 1_000_000)));
}

#[test]
fn timeouts_that_lose_every_race_do_not_pile_up() {
    let mut sim = run_alone(async |cx| {
        for _ in 0..20_000 {
            select(cx.timeout(nanos(1)), cx.timeout(Duration::from_secs(3600))).await;
        }
        cx.until(Time::from_nanos(30_000)).await;
        Ok(())
    })
    .expect("no errors");
    let report = sim.report();
    assert_eq!(
        (report.steps, report.time),
        (20_002, Time::from_nanos(30_000)),
        "dropped waits are not even steps"
    );
    assert_eq!(sim.step().expect("over"), None);
}

#[test]
fn clean_ups_run_even_if_a_simulation_is_dropped() {
    let cleaned = Rc::new(Cell::new(false));
    let seen = Rc::clone(&cleaned);
    let mut sim = Simulation::builder().build();
    sim.add_event("waits", async |cx| {
        cx.event::<()>().wait().await;
        Ok(())
    })
    .expect("new")
    .cleanup(move || {
        seen.set(true);
        Ok(())
    });
    sim.run_until(Time::from_nanos(1)).expect("no errors");
    drop(sim);
    assert!(cleaned.get());
}
