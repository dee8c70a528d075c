//! Models found by name: which place wins, what is said when nothing fits, what hostile folders can do.

mod folder;

use std::path::{Path, PathBuf};

use promenade_scenario::{AssetError, AssetKind, AssetLibrary, AssetPlace, AssetSource, Severity};
use proptest::prelude::*;

use folder::Folder;

impl Folder {
    fn human(&self, bundle: &str) {
        self.write(&format!("{bundle}/annotation.yaml"), "tags: [human::pose::standing]\n");
        self.write(&format!("{bundle}/body.sdf"), "<sdf version='1.8'/>");
    }

    /// Worlds in `worlds/`, shared assets beside them, a cache elsewhere.
    fn library(&self) -> AssetLibrary {
        let roots = [self.path("other/worlds")];
        AssetLibrary::of_world(Some(&self.path("worlds/clinic")), &roots, Some(&self.path("cache")))
    }
}

fn shipped() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/assets")
}

#[test]
fn the_world_wins_over_what_is_shared_and_that_over_the_cache() {
    let f = Folder::new();
    let places = ["worlds/clinic/assets", "assets", "other/assets", "cache"];
    let sources = [AssetSource::World, AssetSource::Shared, AssetSource::Shared, AssetSource::Cached];
    for place in places {
        f.human(&format!("{place}/Hospital/human/nurse"));
    }
    for (place, source) in places.into_iter().zip(sources) {
        let nurse = f.library().human("nurse").expect("found");
        assert_eq!(
            (nurse.folder.clone(), nurse.source),
            (f.path(place).join("Hospital/human/nurse"), source)
        );
        assert_eq!(nurse.sdf, Some(nurse.folder.join("body.sdf")));
        assert_eq!((nurse.rig.clone(), nurse.report.is_empty()), (None, true));
        assert!(nurse.annotation.has_tag("human::pose::standing"));
        std::fs::remove_dir_all(&nurse.folder).expect("removed");
    }
}

#[test]
fn a_name_may_carry_its_domain_and_its_type() {
    let f = Folder::new();
    f.human("assets/Office/human/clerk");
    f.human("assets/Hospital/Humans/clerk");
    f.write("assets/Hospital/Object/clerk/annotation.yaml", "seats: [{x: 0, y: 0}]");
    let library = f.library();
    let folder = |model: &str| library.human(model).map(|b| format!("{}/{}", b.domain, b.name));
    assert_eq!(folder("clerk"), Ok("Hospital/clerk".to_owned()), "the first domain of the alphabet");
    assert_eq!(folder("Office/clerk"), Ok("Office/clerk".to_owned()));
    assert_eq!(folder("Hospital/humans/clerk"), Ok("Hospital/clerk".to_owned()));
    assert_eq!(library.object("Hospital/Object/clerk").expect("found").annotation.seats.len(), 1);
    assert!(matches!(library.robot("clerk"), Err(AssetError::NotFound { .. })));
}

#[test]
fn nothing_fits_says_where_it_looked_and_what_is_close() {
    let f = Folder::new();
    f.human("assets/Hospital/human/nurse_female");
    let library = f.library();
    let error = |model: &str| library.human(model).expect_err("nothing fits").to_string();
    let looked = |pattern: &str| {
        let places = ["worlds/clinic/assets", "assets", "other/assets", "cache"];
        places.map(|place| f.path(place).join(pattern).display().to_string()).join(", ")
    };
    assert_eq!(
        error("nurse_femal"),
        format!(
            "no human model is named \"nurse_femal\"; looked for {}  (try: Hospital/nurse_female)",
            looked("*/human/nurse_femal")
        )
    );
    assert!(error("Office/nurse_female").ends_with("(try: Hospital/nurse_female)"));
    assert!(error("Hospitl/nurse_female").ends_with("(try: Hospital/nurse_female)"));
    assert!(error("forklift").ends_with(&looked("*/human/forklift")));
    let none = AssetLibrary::empty().human("nurse").expect_err("nothing fits").to_string();
    assert_eq!(
        none,
        "no human model is named \"nurse\"; looked for nothing, since no folder of assets is known"
    );
}

#[test]
fn names_do_not_lead_out_of_the_library() {
    let f = Folder::new();
    f.human("human/secret/nurse");
    f.human("assets/a/human/nurse");
    let library = f.library();
    for model in
        ["", "..", "../human/nurse", "a/../nurse", "/nurse", "a//nurse", "a/b/c/d", "a\\nurse", "nurse\n"]
    {
        assert_eq!(library.human(model), Err(AssetError::BadName { model: model.to_owned() }), "{model:?}");
    }
}

#[test]
fn a_bundle_that_does_not_hold_says_why_and_does_not_give_way_to_another() {
    let f = Folder::new();
    f.human("worlds/clinic/assets/a/human/nurse");
    f.human("assets/a/human/nurse");
    f.write("worlds/clinic/assets/a/human/nurse/annotation.yaml", "tags: [a::b]\nface: north\n");
    let error = f.library().human("nurse").expect_err("refused").to_string();
    assert!(error.contains("worlds/clinic/assets/a/human/nurse/annotation.yaml:2:7: error: face"), "{error}");

    f.write("assets/a/human/ghost/annotation.yaml", "tags: [a::b]\n");
    let folder = f.path("assets/a/human/ghost");
    assert_eq!(f.library().human("ghost"), Err(AssetError::NoSdf { folder }));
}

#[test]
fn an_asset_without_an_annotation_is_found_with_a_warning() {
    let f = Folder::new();
    f.write("assets/a/human/plain/model.sdf", "");
    f.write("assets/a/human/plain/z.sdf", "");
    f.write("assets/a/human/plain/rig.yaml", "");
    let plain = f.library().human("plain").expect("found");
    assert!(plain.sdf.as_ref().is_some_and(|sdf| sdf.ends_with("model.sdf")));
    assert!(plain.rig.is_some());
    assert_eq!(plain.report.count(Severity::Warning), 1);

    f.write("assets/a/human/twins/b.sdf", "");
    f.write("assets/a/human/twins/a.sdf", "");
    let twins = f.library().human("twins").expect("found");
    assert!(twins.sdf.as_ref().is_some_and(|sdf| sdf.ends_with("a.sdf")));
    assert_eq!(twins.report.count(Severity::Warning), 2, "{}", twins.report);
}

#[test]
fn a_robot_may_name_its_base_frame() {
    let f = Folder::new();
    f.write(
        "assets/Common/robot/burger/annotation.yaml",
        "tags: [robot::kinematics::differential]\nbase_frame: base_footprint\n",
    );
    let burger = f.library().robot("burger").expect("found");
    assert_eq!(burger.annotation.base_frame.as_deref(), Some("base_footprint"));
}

#[test]
fn the_shipped_fallback_resolves_and_stocks_no_library_alone() {
    let place = AssetPlace { source: AssetSource::Shared, folder: shipped() };
    let library = AssetLibrary::new([place]);
    let arenian = library.human("arenian").expect("shipped");
    assert!(arenian.sdf.as_ref().is_some_and(|sdf| sdf.is_absolute() && sdf.is_file()));
    assert!(arenian.report.is_empty(), "{}", arenian.report);
    let f = Folder::new();
    f.human("assets/Common/human/arenian");
    assert!(!f.library().is_stocked(AssetKind::Human));
    f.human("assets/Common/human/nurse");
    assert!(f.library().is_stocked(AssetKind::Human) && !f.library().is_stocked(AssetKind::Object));
}

#[test]
fn an_answer_is_remembered() {
    let f = Folder::new();
    f.human("assets/a/human/nurse");
    let library = f.library();
    let first = library.human("nurse").expect("found");
    assert!(library.human("clerk").is_err());
    f.human("assets/a/human/clerk");
    std::fs::remove_dir_all(&first.folder).expect("removed");
    assert_eq!(library.human("nurse").expect("remembered"), first);
    assert!(library.human("clerk").is_err(), "so is what was not found");
}

#[cfg(unix)]
#[test]
fn links_that_lead_back_and_crowded_folders_come_to_an_end() {
    let f = Folder::new();
    f.human("assets/a/human/nurse");
    std::os::unix::fs::symlink(f.path("assets"), f.path("assets/loop")).expect("a link");
    std::os::unix::fs::symlink(f.path("assets/a/human"), f.path("assets/a/human/human")).expect("a link");
    let library = f.library();
    assert!(library.human("nurse").is_ok());
    assert!(library.human("stranger").is_err());
    assert!(library.names(AssetKind::Human).len() < 10);

    for i in 0..1_001 {
        std::fs::create_dir_all(f.path(&format!("other/assets/d{i}"))).expect("a folder");
    }
    f.human("other/assets/d7/human/porter");
    let library = f.library();
    assert!(library.human("porter").is_err(), "nobody looks through a thousand domains");
    assert!(library.human("d7/porter").is_ok(), "and nobody needs to with the domain given");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_name_is_answered(model in "\\PC{0,40}|([a-z./\\\\]{0,12})") {
        let library = AssetLibrary::new([AssetPlace { source: AssetSource::Shared, folder: shipped() }]);
        let answers = [library.human(&model), library.object(&model), library.robot(&model)];
        for bundle in answers.into_iter().flatten() {
            prop_assert!(bundle.folder.starts_with(&library.places()[0].folder));
        }
    }
}
