//! The `.npz` container: the same content as an object array, in plain numeric arrays (human-layer specification,
//! section 12.1). It needs no pickle and is what this crate writes.

use std::io::{Cursor, Read, Write};

use zip::{CompressionMethod, ZipArchive, ZipWriter, result::ZipError, write::SimpleFileOptions};

use super::{
    ClipData, ClipError, Limits,
    npy::{Npy, write_header},
};
use crate::joint::Joint;

/// More arrays than this are not looked at.
const MEMBERS: usize = 64;

fn npz(error: &ZipError) -> ClipError {
    ClipError::Npz(error.to_string())
}

/// Elements of an array in C order, and its shape.
type Numbers = (Vec<f64>, Vec<usize>);

struct Archive<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
    limits: &'a Limits,
}

impl Archive<'_> {
    fn member(&mut self, name: &str) -> Result<Option<Vec<u8>>, ClipError> {
        let member = match self.zip.by_name(&format!("{name}.npy")) {
            Ok(member) => member,
            Err(ZipError::FileNotFound) => return Ok(None),
            Err(error) => return Err(npz(&error)),
        };
        // The size the archive declares is only a claim.
        let limit = self.limits.bytes;
        let mut bytes = Vec::new();
        let unpacked = member.take(limit as u64 + 1).read_to_end(&mut bytes);
        unpacked.map_err(|error| ClipError::Npz(format!("{name}: {error}")))?;
        if bytes.len() > limit {
            return Err(ClipError::TooLarge { what: "bytes of an array", found: bytes.len(), limit });
        }
        Ok(Some(bytes))
    }

    fn numbers(&mut self, name: &str) -> Result<Option<Numbers>, ClipError> {
        let Some(bytes) = self.member(name)? else { return Ok(None) };
        let npy = Npy::read(&bytes)?;
        Ok(Some((npy.numbers(self.limits)?, npy.shape)))
    }

    /// A column of one number per frame.
    fn column(&mut self, name: &str, frames: usize) -> Result<Option<Vec<f64>>, ClipError> {
        let Some((column, shape)) = self.numbers(name)? else { return Ok(None) };
        if shape != [frames] || column.iter().any(|value| !value.is_finite()) {
            return Err(ClipError::Npz(format!("{name}: expected {frames} finite numbers")));
        }
        Ok(Some(column))
    }
}

impl ClipData {
    /// Reads the arrays `joint_names`, `angles`, and if present `t`, `root_xy_yaw` and `animation_state`.
    ///
    /// # Errors
    /// An array is missing, has another shape or element type, or asks for more than `limits`.
    pub fn from_npz(bytes: &[u8], limits: &Limits) -> Result<Self, ClipError> {
        if bytes.len() > limits.bytes {
            return Err(ClipError::TooLarge { what: "bytes", found: bytes.len(), limit: limits.bytes });
        }
        let zip = ZipArchive::new(Cursor::new(bytes)).map_err(|error| npz(&error))?;
        if zip.len() > MEMBERS {
            return Err(ClipError::TooLarge { what: "arrays", found: zip.len(), limit: MEMBERS });
        }
        let mut archive = Archive { zip, limits };
        let missing = |name: &str| ClipError::Npz(format!("the array {name:?} is missing"));
        let names = archive.member("joint_names")?.ok_or_else(|| missing("joint_names"))?;
        let names = Npy::read(&names)?.texts(limits)?;
        if names.len() > limits.joints {
            return Err(ClipError::TooLarge { what: "joints", found: names.len(), limit: limits.joints });
        }
        let (angles, shape) = archive.numbers("angles")?.ok_or_else(|| missing("angles"))?;
        let [frames, joints] = *shape else {
            return Err(ClipError::Npz("angles: expected two dimensions, frames and joints".to_owned()));
        };
        if joints != names.len() {
            return Err(ClipError::Npz(format!("angles: {joints} columns for {} joint names", names.len())));
        }
        if frames > limits.frames {
            return Err(ClipError::TooLarge { what: "frames", found: frames, limit: limits.frames });
        }
        if frames == 0 {
            return Err(ClipError::Empty);
        }
        let columns: Vec<Option<Joint>> = names.iter().map(|name| Joint::parse(name)).collect();
        let mut clip = Self::default();
        for index in 0..frames {
            let row = &angles[index * joints..(index + 1) * joints];
            if let Some(column) = row.iter().position(|angle| !angle.is_finite()) {
                let problem = format!("{}: expected a finite angle", names[column]);
                return Err(ClipError::Frame { frame: index, problem });
            }
            let (frame, present) = clip.push();
            for (angle, joint) in row.iter().zip(&columns) {
                if let Some(joint) = joint {
                    frame[joint.index()] = *angle;
                    present.insert(*joint);
                }
            }
        }
        for (index, name) in names.iter().enumerate().filter(|(index, _)| columns[*index].is_none()) {
            let column = angles.iter().skip(index).step_by(joints.max(1)).copied().collect();
            clip.extra.insert(name.clone(), column);
        }
        clip.t = archive.column("t", frames)?;
        clip.animation_state = archive
            .column("animation_state", frames)?
            .map(|column| column.into_iter().map(|state| state as i16).collect());
        if let Some((root, shape)) = archive.numbers("root_xy_yaw")? {
            if shape != [frames, 3] || root.iter().any(|value| !value.is_finite()) {
                return Err(ClipError::Npz(format!("root_xy_yaw: expected {frames} x 3 finite numbers")));
            }
            clip.root_xy_yaw = Some(root.chunks_exact(3).map(|row| [row[0], row[1], row[2]]).collect());
        }
        Ok(clip)
    }

    /// The clip as an `.npz` that [`Self::from_npz`] and NumPy read. The same clip gives the same bytes.
    ///
    /// # Errors
    /// [`ClipError::Npz`] if the archive cannot be written, which takes a clip of gigabytes.
    pub fn to_npz(&self) -> Result<Vec<u8>, ClipError> {
        let joints: Vec<Joint> = self.joints().iter().collect();
        let names: Vec<&str> =
            joints.iter().map(|joint| joint.name()).chain(self.extra.keys().map(String::as_str)).collect();
        let frames = self.frames.len();
        let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(1);
        let mut members = Vec::new();
        let mut array = Vec::new();
        write_header(&mut array, &format!("<U{width}"), &[names.len()]);
        for name in &names {
            let mut codes: Vec<u32> = name.chars().map(u32::from).collect();
            codes.resize(width, 0);
            array.extend(codes.into_iter().flat_map(u32::to_le_bytes));
        }
        members.push(("joint_names", array));
        let angles = (0..frames).flat_map(|frame| {
            let known = joints.iter().map(move |joint| self.frames[frame][joint.index()]);
            known.chain(self.extra.values().map(move |column| column[frame]))
        });
        members.push(("angles", doubles(&[frames, names.len()], angles)));
        if let Some(t) = &self.t {
            members.push(("t", doubles(&[frames], t.iter().copied())));
        }
        if let Some(root) = &self.root_xy_yaw {
            members.push(("root_xy_yaw", doubles(&[frames, 3], root.iter().flatten().copied())));
        }
        if let Some(states) = &self.animation_state {
            let mut array = Vec::new();
            write_header(&mut array, "<i2", &[frames]);
            array.extend(states.iter().flat_map(|state| state.to_le_bytes()));
            members.push(("animation_state", array));
        }
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        for (name, array) in members {
            zip.start_file(format!("{name}.npy"), options).map_err(|error| npz(&error))?;
            zip.write_all(&array).map_err(|error| ClipError::Npz(error.to_string()))?;
        }
        Ok(zip.finish().map_err(|error| npz(&error))?.into_inner())
    }
}

fn doubles(shape: &[usize], values: impl Iterator<Item = f64>) -> Vec<u8> {
    let mut array = Vec::new();
    write_header(&mut array, "<f8", shape);
    array.extend(values.flat_map(f64::to_le_bytes));
    array
}
