//! One mcap file from front to back.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use mcap::parse_record;
use mcap::records::Record;
use mcap::sans_io::linear_reader::{LinearReadEvent, LinearReader, LinearReaderOptions};

use super::{Pass, ReadError, Topic, Wanted};

/// No record that anybody writes is larger.
const LARGEST: usize = 1 << 30;
/// Bytes that are read at once.
const PORTION: usize = 1 << 20;

/// Reads a file; false when the visitor ended the reading. A file that breaks off is told of in the reading.
pub(super) fn read(path: &Path, pass: &mut Pass<'_>) -> Result<bool, ReadError> {
    let io = |source| ReadError::Io { path: path.to_owned(), source };
    let mut file = File::open(path).map_err(io)?;
    let mut reader =
        LinearReader::new_with_options(LinearReaderOptions::default().with_record_length_limit(LARGEST));
    // Name, encoding and text of definitions, by number.
    let mut schemas: BTreeMap<u16, (String, String, String)> = BTreeMap::new();
    let mut channels: BTreeMap<u16, Option<Wanted>> = BTreeMap::new();
    let mut is_first = true;
    while let Some(event) = reader.next_event() {
        let (data, opcode) = match event {
            Ok(LinearReadEvent::ReadRequest(wanted)) => {
                let buffer = reader.insert(wanted.clamp(1, PORTION));
                let count = file.read(buffer).map_err(io)?;
                reader.notify_read(count);
                if !pass.advance(count as u64) {
                    return Ok(false);
                }
                continue;
            }
            Ok(LinearReadEvent::Record { data, opcode }) => (data, opcode),
            Err(_) if is_first => return Err(ReadError::Format(path.to_owned())),
            Err(error) => {
                pass.reading.cut_off = Some(error.to_string());
                return Ok(true);
            }
        };
        is_first = false;
        match parse_record(opcode, data) {
            Ok(Record::Schema { header, data }) => {
                let text = String::from_utf8_lossy(&data).into_owned();
                schemas.insert(header.id, (header.name, header.encoding, text));
            }
            Ok(Record::Channel(channel)) if !channels.contains_key(&channel.id) => {
                let schema = schemas.get(&channel.schema_id);
                let topic = Topic {
                    name: channel.topic,
                    message: schema.map_or_else(String::new, |(name, _, _)| name.clone()),
                };
                let text =
                    schema.filter(|(_, encoding, _)| encoding == "ros2msg").map(|(_, _, text)| text.as_str());
                channels.insert(channel.id, pass.topic(topic, &channel.message_encoding, text)?);
            }
            Ok(Record::Message { header, data }) => {
                if let Some(Some(wanted)) = channels.get(&header.channel_id) {
                    pass.message(wanted, header.log_time, &data);
                }
            }
            Ok(_) => {}
            Err(error) => {
                pass.reading.cut_off = Some(error.to_string());
                return Ok(true);
            }
        }
    }
    Ok(true)
}
