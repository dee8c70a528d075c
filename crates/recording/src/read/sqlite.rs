//! One sqlite file of rosbag2, in the order of its messages.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::{Connection, OpenFlags, Result};

use super::{Pass, ReadError, Topic};

/// Progress is told of after so many messages.
const OFTEN: u64 = 256;

/// Reads a file of `size` bytes; false when the visitor ended the reading.
pub(super) fn read(path: &Path, size: u64, pass: &mut Pass<'_>) -> std::result::Result<bool, ReadError> {
    let sqlite = |source| ReadError::Sqlite { path: path.to_owned(), source };
    let open = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY);
    let connection = open.map_err(sqlite)?;
    let topics = topics(&connection).map_err(sqlite)?;
    let definitions = definitions(&connection);
    let mut wanted = BTreeMap::new();
    for (id, name, message, encoding) in topics {
        let text = definitions.get(&message).map(String::as_str);
        let topic = Topic { name, message: message.clone() };
        if let Some(found) = pass.topic(topic, &encoding, text)? {
            wanted.insert(id, found);
        }
    }
    let count: u64 = connection
        .query_row("SELECT COUNT(*) FROM messages", [], |row| row.get::<_, i64>(0))
        .map_err(sqlite)?
        .unsigned_abs();
    let mut statement = connection
        .prepare("SELECT topic_id, timestamp, data FROM messages ORDER BY timestamp, id")
        .map_err(sqlite)?;
    let mut rows = statement.query([]).map_err(sqlite)?;
    let mut read = 0;
    loop {
        let row = match rows.next() {
            Ok(Some(row)) => row,
            Ok(None) => break,
            Err(error) => {
                pass.reading.cut_off = Some(error.to_string());
                break;
            }
        };
        let id: i64 = row.get(0).map_err(sqlite)?;
        if let Some(wanted) = wanted.get(&id) {
            let time: i64 = row.get(1).map_err(sqlite)?;
            let data = row.get_ref(2).map_err(sqlite)?;
            pass.message(wanted, u64::try_from(time).unwrap_or(0), data.as_blob().unwrap_or_default());
        }
        read += 1;
        if read % OFTEN == 0 && !pass.advance(OFTEN * size / count.max(1)) {
            return Ok(false);
        }
    }
    Ok(pass.advance((read % OFTEN) * size / count.max(1)))
}

fn topics(connection: &Connection) -> Result<Vec<(i64, String, String, String)>> {
    let mut statement =
        connection.prepare("SELECT id, name, type, serialization_format FROM topics ORDER BY id")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
    rows.collect()
}

/// Definitions by type; files older than 2023 have none.
fn definitions(connection: &Connection) -> BTreeMap<String, String> {
    let query =
        "SELECT topic_type, encoded_message_definition FROM message_definitions WHERE encoding = 'ros2msg'";
    let Ok(mut statement) = connection.prepare(query) else { return BTreeMap::new() };
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
    rows.map(|rows| rows.flatten().collect()).unwrap_or_default()
}
