//! Any bytes are either a clip or a typed error; never a panic, never a hang, never memory beyond the limits.
#![no_main]

use libfuzzer_sys::fuzz_target;
use promenade_gait::{
    clip::{Annotation, Annotations, ClipData, KeyFrames, Limits},
    driver::RigFile,
};

fuzz_target!(|bytes: &[u8]| {
    let limits =
        Limits { bytes: 1 << 20, frames: 4096, opcodes: 200_000, containers: 20_000, ..Limits::default() };
    let clip = ClipData::from_npy(bytes, &limits);
    if let Ok(clip) = clip {
        let again = clip.to_npz().and_then(|npz| ClipData::from_npz(&npz, &Limits::default()));
        let again = again.expect("what was read can be written and read again");
        assert_eq!(clip.frames, again.frames);
    }
    let _ = ClipData::from_npz(bytes, &limits);
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = Annotations::parse("annotations.yaml", text);
        let _ = RigFile::parse("rig.yaml", text);
        if let Ok(source) = KeyFrames::parse("clip.yaml", text) {
            let _ = source.sample(&Annotation::default());
        }
    }
});
