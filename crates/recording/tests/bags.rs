//! Bags as they are found: ours, cut off, compressed, in folders, in sqlite, and hostile ones.

use std::path::Path;

use promenade_recording::cdr::{DecodeError, Encoder};
use promenade_recording::{BagWriter, Durability, ReadError, Schema, Topic, Visitor, definition, read};
use proptest::prelude::*;

const CLOCK: &str = "rosgraph_msgs/msg/Clock";

/// Collects the seconds of every clock.
#[derive(Default)]
struct Clocks {
    seconds: Vec<f64>,
    times: Vec<u64>,
    shares: Vec<(u64, u64)>,
    most: usize,
}

impl Visitor for Clocks {
    fn topic(&mut self, topic: &Topic) -> Option<usize> {
        (topic.message == CLOCK).then_some(7)
    }

    fn message(
        &mut self,
        topic: usize,
        time_ns: u64,
        schema: &Schema,
        message: &[u8],
    ) -> Result<(), DecodeError> {
        assert_eq!(topic, 7);
        schema.decode(message, &mut |item| {
            item.fields(&mut |item| {
                if item.name() == "sec" {
                    self.seconds.push(item.number()?);
                }
                Ok(())
            })
        })?;
        self.times.push(time_ns);
        Ok(())
    }

    fn progress(&mut self, done: u64, of: u64) -> bool {
        self.shares.push((done, of));
        self.most == 0 || self.seconds.len() < self.most
    }
}

fn clock(second: i32) -> Encoder {
    let mut encoder = Encoder::default();
    encoder.begin().number(second).number(0_u32);
    encoder
}

fn write(path: &Path, seconds: std::ops::Range<i32>) {
    let mut bag = BagWriter::create(path).expect("a file");
    let clocks = bag.channel("/clock", CLOCK, Durability::Volatile).expect("a channel");
    let other =
        bag.channel("/goal", "geometry_msgs/msg/PoseStamped", Durability::Latched).expect("a channel");
    for second in seconds {
        let time = u64::from(second.unsigned_abs()) * 1_000_000_000;
        bag.write(clocks, time, clock(second).bytes()).expect("written");
        bag.write(other, time, &[0; 3]).expect("written");
    }
    bag.finish().expect("finished");
}

fn read_all(path: &Path) -> (Clocks, promenade_recording::Reading) {
    let mut clocks = Clocks::default();
    let reading = read(path, &mut clocks).expect("a bag");
    (clocks, reading)
}

#[test]
fn what_was_written_is_read_in_its_order() {
    let folder = tempfile::tempdir().expect("a folder");
    // As rosbag2 splits them.
    write(&folder.path().join("bag_10.mcap"), 2..3);
    write(&folder.path().join("bag_9.mcap"), 0..2);
    let (clocks, reading) = read_all(folder.path());
    assert_eq!(clocks.seconds, [0.0, 1.0, 2.0]);
    assert_eq!(clocks.times, [0, 1_000_000_000, 2_000_000_000]);
    assert_eq!((reading.messages, reading.bad_messages, reading.cut_off), (3, 0, None));
    let names: Vec<&str> = reading.topics.iter().map(|topic| topic.name.as_str()).collect();
    assert_eq!(names, ["/clock", "/goal"]);
    let (done, of) = *clocks.shares.last().expect("progress");
    assert_eq!(done, of);
}

#[test]
fn a_visitor_may_end_the_reading() {
    let folder = tempfile::tempdir().expect("a folder");
    for part in 0..3 {
        write(&folder.path().join(format!("bag_{part}.mcap")), 0..2);
    }
    let mut clocks = Clocks { most: 1, ..Clocks::default() };
    read(folder.path(), &mut clocks).expect("a bag");
    assert_eq!(clocks.seconds.len(), 2, "the first file alone");
}

#[test]
fn a_bag_that_is_cut_off_gives_what_it_has() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("bag.mcap");
    // Chunks are written when they are full; several are needed for some to be whole.
    write(&path, 0..40_000);
    let bytes = std::fs::read(&path).expect("read");
    std::fs::write(&path, &bytes[..bytes.len() / 2]).expect("written");
    let (clocks, reading) = read_all(&path);
    assert!(reading.cut_off.is_some());
    assert!((1_000..40_000).contains(&clocks.seconds.len()), "{}", clocks.seconds.len());
}

#[test]
fn bad_messages_are_counted_and_the_rest_counts() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("bag.mcap");
    let mut bag = BagWriter::create(&path).expect("a file");
    let clocks = bag.channel("/clock", CLOCK, Durability::Volatile).expect("a channel");
    for message in [clock(1).bytes(), &clock(2).bytes()[..9], &[], clock(3).bytes()] {
        bag.write(clocks, 0, message).expect("written");
    }
    bag.finish().expect("finished");
    let (clocks, reading) = read_all(&path);
    assert_eq!(clocks.times.len(), 2);
    assert_eq!((reading.messages, reading.bad_messages), (2, 2));
    assert!(reading.first_bad.is_some_and(|text| text.contains("ends after")));
}

#[test]
fn what_is_no_bag_is_said_to_be_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = folder.path().join("notes.txt");
    let mcap = folder.path().join("bag.mcap");
    let sqlite = folder.path().join("bag.db3");
    for path in [&text, &mcap, &sqlite] {
        std::fs::write(path, "This is a text and no bag at all, whatever it is called.").expect("written");
    }
    let error = |path: &Path| read(path, &mut Clocks::default()).expect_err("no bag");
    assert!(matches!(error(&text), ReadError::Format(_)));
    assert!(matches!(error(&mcap), ReadError::Format(_)));
    assert!(matches!(error(&sqlite), ReadError::Sqlite { .. }));
    assert!(matches!(error(&folder.path().join("missing.mcap")), ReadError::Io { .. }));
    let empty = tempfile::tempdir().expect("a folder");
    assert!(matches!(error(empty.path()), ReadError::Format(_)));
}

#[test]
fn sqlite_bags_are_read_with_and_without_definitions() {
    for with_definitions in [true, false] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("bag.db3");
        let connection = rusqlite::Connection::open(&path).expect("a database");
        connection
            .execute_batch(
                "CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT, type TEXT, serialization_format TEXT);
                 CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, data BLOB);
                 INSERT INTO topics VALUES (1, '/other', 'a/msg/B', 'cdr'), (2, '/clock', 'rosgraph_msgs/msg/Clock', 'cdr');
                 INSERT INTO messages VALUES (1, 1, 5, x'00')",
            )
            .expect("tables");
        if with_definitions {
            let table = "CREATE TABLE message_definitions(topic_type TEXT, encoding TEXT, encoded_message_definition TEXT)";
            connection.execute_batch(table).expect("a table");
            connection
                .execute(
                    "INSERT INTO message_definitions VALUES (?1, 'ros2msg', ?2)",
                    [CLOCK, &definition(CLOCK).expect("known")],
                )
                .expect("a row");
        }
        for second in [2, 1] {
            connection
                .execute(
                    "INSERT INTO messages(topic_id, timestamp, data) VALUES (2, ?1, ?2)",
                    (second, clock(second).bytes()),
                )
                .expect("a row");
        }
        drop(connection);
        let (clocks, reading) = read_all(folder.path());
        assert_eq!((clocks.seconds, clocks.times), (vec![1.0, 2.0], vec![1, 2]));
        assert_eq!(reading.topics.len(), 2);
    }
}

#[test]
fn a_topic_that_is_wanted_and_cannot_be_understood_is_an_error() {
    struct All;
    impl Visitor for All {
        fn topic(&mut self, _: &Topic) -> Option<usize> {
            Some(0)
        }
        fn message(&mut self, _: usize, _: u64, _: &Schema, _: &[u8]) -> Result<(), DecodeError> {
            Ok(())
        }
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("bag.mcap");
    let mut writer =
        mcap::Writer::new(std::io::BufWriter::new(std::fs::File::create(&path).expect("a file")))
            .expect("a bag");
    let schema = writer.add_schema("a/msg/B", "ros2idl", b"module a {};").expect("a schema");
    writer.add_channel(schema, "/b", "cdr", &std::collections::BTreeMap::new()).expect("a channel");
    writer.finish().expect("finished");
    let error = read(&path, &mut All).expect_err("unknown");
    assert!(error.to_string().contains("no definition of a/msg/B on /b"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_damaged_bag_never_panics(at in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..20)) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("bag.mcap");
        write(&path, 0..20);
        let mut bytes = std::fs::read(&path).expect("read");
        for (index, byte) in at {
            let index = index.index(bytes.len());
            bytes[index] = byte;
        }
        std::fs::write(&path, &bytes).expect("written");
        let _ = read(&path, &mut Clocks::default());
    }

    #[test]
    fn neither_does_any_definition_nor_any_message(text in "[a-zA-Z0-9_/\\[\\]<= #\n]{0,200}", message in proptest::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(schema) = Schema::parse("p/msg/M", &text) {
            let _ = schema.decode(&message, &mut |_| Ok(()));
        }
        let known = definition("hunav_msgs/msg/Agents").expect("known");
        let schema = Schema::parse("hunav_msgs/msg/Agents", &known).expect("valid");
        let mut message = message;
        message.splice(0..0, [0, 1, 0, 0]);
        let _ = schema.decode(&message, &mut |item| item.each(&mut |item| item.fields(&mut |_| Ok(()))));
    }
}
