//! The numbers of the original force library and of the original manager, scene by scene.

use promenade_hunav::scene::SceneFile;

/// Run a file in strict mode; what is not within its tolerance.
fn misses(text: &str) -> Vec<String> {
    let file = SceneFile::parse(text).expect("a scene");
    let mut misses = Vec::new();
    for scene in file.scenes() {
        let deviations = scene.compare(&scene.rows(scene.options()));
        assert_eq!(deviations.len(), 21, "{} has rows to compare with", scene.name);
        for deviation in deviations.iter().filter(|deviation| !deviation.is_allowed()) {
            misses.push(format!("{}: {deviation:?}", scene.name));
        }
    }
    misses
}

macro_rules! references {
    ($($name:ident),*) => {
        $(#[test]
        fn $name() {
            let misses = misses(include_str!(concat!("reference/", stringify!($name), ".json")));
            assert!(misses.is_empty(), "{}", misses.join("\n"));
        })*
    };
}

references!(
    probe_forces,
    s01_two_goals,
    s02_head_on,
    s03_crossing_batch,
    s04_corridor_sum,
    s04_corridor_mean,
    s05_group,
    s06_service_v1_regular_impassive,
    s07_service_v15_scared,
    s08_service_v15_mixed
);
