//! Clip files that were damaged in every way a loop can think of: no panic, no hang, no memory beyond a bound.
//!
//! `PROMENADE_MUTATIONS=3000000 cargo test --release -p promenade_gait --test mutated_clips` makes it as long as you like; file `n`
//! is the same in every run.

use std::{fs, path::Path};

use promenade_gait::clip::{Annotation, Annotations, ClipData, KeyFrames, Limits};

/// Bytes that reading a file of a few kilobytes may hold at one time.
const MOST: u64 = 16 << 20;

/// Numbers from a seed: splitmix64.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

/// Every opcode the reader knows, some it does not, and lengths that lie.
const TOKENS: &[&[u8]] = &[
    b"\x80\x05",
    b"(",
    b")",
    b"]",
    b"}",
    b"N",
    b"\x88",
    b"K\x01",
    b"M\xff\xff",
    b"J\xff\xff\xff\x7f",
    b"\x8a\xff",
    b"G\x7f\xf8\0\0\0\0\0\0",
    b"\x8c\xff",
    b"X\xff\xff\xff\xff",
    b"B\xff\xff\xff\x7f",
    b"C\x04",
    b"\x85",
    b"\x86",
    b"\x87",
    b"t",
    b"a",
    b"e",
    b"s",
    b"u",
    b"\x94",
    b"q\0",
    b"r\xff\xff\xff\xff",
    b"h\0",
    b"j\xff\xff\xff\xff",
    b"R",
    b"b",
    b".",
    b"i",
    b"cos\nsystem\n",
    b"cnumpy\ndtype\n",
    b"\x93",
    b"\x95\xff\xff\xff\xff\xff\xff\xff\xff",
    b"PK\x03\x04",
    b"PK\x01\x02",
    b"\x93NUMPY\x01\0",
    b"'shape': (99999999999,)",
    b"&a [*a, *a]",
    b": {",
    b"\n  - ",
];

fn damaged(originals: &[Vec<u8>], numbers: &mut Numbers) -> Vec<u8> {
    let mut bytes = originals[numbers.below(originals.len())].clone();
    for _ in 0..=numbers.below(6) {
        let at = numbers.below(bytes.len());
        match numbers.below(7) {
            0 if !bytes.is_empty() => bytes[at] = numbers.next() as u8,
            1 if !bytes.is_empty() => bytes[at] ^= 1 << numbers.below(8),
            2 => bytes.truncate(at),
            3 => {
                let end = (at + numbers.below(64)).min(bytes.len());
                bytes.drain(at..end);
            }
            4 => {
                let token = TOKENS[numbers.below(TOKENS.len())];
                bytes.splice(at..at, token.iter().copied());
            }
            5 => {
                let end = (at + numbers.below(256)).min(bytes.len());
                let piece = bytes[at..end].to_vec();
                let to = numbers.below(bytes.len());
                bytes.splice(to..to, piece);
            }
            _ => {
                let other = &originals[numbers.below(originals.len())];
                let from = numbers.below(other.len());
                bytes.truncate(at);
                bytes.extend_from_slice(&other[from..]);
            }
        }
    }
    bytes
}

#[test]
fn damaged_files_end_in_an_error_or_a_clip() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut originals = Vec::new();
    for folder in ["tests/data/clips", "../../animations", "../../animations/source"] {
        let mut paths: Vec<_> =
            fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        originals.extend(paths.iter().filter(|path| path.is_file()).map(|path| fs::read(path).unwrap()));
    }
    let limits =
        Limits { bytes: 1 << 20, frames: 4096, opcodes: 200_000, containers: 20_000, ..Limits::default() };
    let count: u64 = std::env::var("PROMENADE_MUTATIONS").map_or(20_000, |count| count.parse().unwrap());
    let mut clips = 0_u64;
    for file in 0..count {
        let bytes = damaged(&originals, &mut Numbers(file));
        let counted = allocation_counter::measure(|| {
            let read = [ClipData::from_npy(&bytes, &limits), ClipData::from_npz(&bytes, &limits)];
            clips += read.iter().filter(|read| read.is_ok()).count() as u64;
            if let Ok(text) = std::str::from_utf8(&bytes) {
                let _ = Annotations::parse("annotations.yaml", text);
                if let Ok(source) = KeyFrames::parse("clip.yaml", text) {
                    clips += u64::from(source.sample(&Annotation::default()).is_ok());
                }
            }
        });
        assert!(counted.bytes_max < MOST, "file {file}: {} bytes at one time", counted.bytes_max);
    }
    assert!(clips > count / 100 && clips < count, "{clips} of {count} still are clips");
}
