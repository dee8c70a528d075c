//! A call in the steady state takes nothing from the heap.

use promenade_hunav::workload::Workload;
use promenade_hunav::{Manager, ManagerVersion, Options};

#[test]
fn a_call_takes_nothing_from_the_heap() {
    for options in [Options::default(), Options::strict(ManagerVersion::P15)] {
        let (mut workload, mut manager, mut answer) =
            (Workload::new(60, 16), Manager::new(options), Vec::new());
        for _ in 0..60 {
            workload.call(&mut manager, &mut answer);
            workload.echo(&answer);
        }
        let counted = allocation_counter::measure(|| workload.call(&mut manager, &mut answer));
        assert_eq!(counted.count_total, 0, "{options:?}");
    }
}
