//! Where everybody was over time, and the text formats that programs for pedestrian data read.
//!
//! Recording copies columns and decides nothing. Writing goes into whatever the caller opened; nothing here opens a file.

use std::io::{self, Write};

use crate::pool::Pool;
use crate::protocol::AgentFrame;

/// Frames of people, one after another, as a structure of arrays. Metres, radians, m/s.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trajectory {
    /// Frames per second.
    rate: f64,
    /// Where the rows of each frame end.
    ends: Vec<usize>,
    id: Vec<i32>,
    x: Vec<f64>,
    y: Vec<f64>,
    theta: Vec<f64>,
    vx: Vec<f64>,
    vy: Vec<f64>,
    radius: Vec<f64>,
}

/// The rows of one frame; the slices are parallel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frame<'a> {
    /// Its number, from 0.
    pub number: usize,
    /// Ids.
    pub id: &'a [i32],
    /// m.
    pub x: &'a [f64],
    /// m.
    pub y: &'a [f64],
    /// rad.
    pub theta: &'a [f64],
    /// m/s.
    pub vx: &'a [f64],
    /// m/s.
    pub vy: &'a [f64],
    /// m.
    pub radius: &'a [f64],
}

impl Trajectory {
    /// Columns of the CSV and JSON forms.
    pub const COLUMNS: [&'static str; 8] = ["frame", "id", "x", "y", "theta", "vx", "vy", "radius"];

    /// Without frames; `rate` is how many there are per second.
    #[must_use]
    pub fn new(rate: f64) -> Self {
        Self { rate, ..Self::default() }
    }

    /// Frames per second.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// Number of frames.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no frame.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Rows of all frames together.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.id.len()
    }

    /// Append a frame of an engine.
    pub fn record(&mut self, frame: &AgentFrame) {
        self.id.extend_from_slice(&frame.agent_id);
        self.x.extend_from_slice(&frame.x);
        self.y.extend_from_slice(&frame.y);
        self.theta.extend_from_slice(&frame.theta);
        self.vx.extend_from_slice(&frame.vx);
        self.vy.extend_from_slice(&frame.vy);
        self.radius.extend_from_slice(&frame.radius);
        self.ends.push(self.id.len());
    }

    /// Append everybody of a pool as a frame.
    pub fn record_pool(&mut self, pool: &Pool) {
        self.id.extend_from_slice(&pool.id);
        self.x.extend_from_slice(&pool.x);
        self.y.extend_from_slice(&pool.y);
        self.theta.extend_from_slice(&pool.theta);
        self.vx.extend_from_slice(&pool.vx);
        self.vy.extend_from_slice(&pool.vy);
        self.radius.extend_from_slice(&pool.radius);
        self.ends.push(self.id.len());
    }

    /// The frames in order.
    pub fn frames(&self) -> impl ExactSizeIterator<Item = Frame<'_>> {
        (0..self.ends.len()).map(|number| {
            let rows = number.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[number];
            Frame {
                number,
                id: &self.id[rows.clone()],
                x: &self.x[rows.clone()],
                y: &self.y[rows.clone()],
                theta: &self.theta[rows.clone()],
                vx: &self.vx[rows.clone()],
                vy: &self.vy[rows.clone()],
                radius: &self.radius[rows],
            }
        })
    }

    /// The path of every id in order of ids: its rows, one list for each stretch of frames without a gap.
    #[must_use]
    pub fn paths(&self) -> Vec<Vec<[f64; 2]>> {
        let mut order: Vec<(i32, usize, usize)> = Vec::with_capacity(self.rows());
        let mut row = 0;
        for frame in self.frames() {
            for id in frame.id {
                order.push((*id, frame.number, row));
                row += 1;
            }
        }
        order.sort_unstable();
        let mut paths: Vec<Vec<[f64; 2]>> = Vec::new();
        let mut last = None;
        for (id, frame, row) in order {
            let point = [self.x[row], self.y[row]];
            match paths.last_mut() {
                Some(path) if last.is_some_and(|(i, f)| i == id && f + 1 == frame) => path.push(point),
                _ => paths.push(vec![point]),
            }
            last = Some((id, frame));
        }
        paths
    }

    /// Write the text form of JuPedSim and PedPy: comments with the frame rate and the unit, then id, frame, x, y and z per line.
    ///
    /// # Errors
    /// Whatever the writer gives.
    pub fn write_text(&self, out: &mut impl Write, description: &str) -> io::Result<()> {
        for line in description.lines() {
            writeln!(out, "# description: {line}")?;
        }
        writeln!(out, "# framerate: {} fps", self.rate)?;
        writeln!(out, "# id frame x/m y/m z/m")?;
        for frame in self.frames() {
            for (row, id) in frame.id.iter().enumerate() {
                writeln!(out, "{id} {} {:.6} {:.6} 0", frame.number, frame.x[row], frame.y[row])?;
            }
        }
        Ok(())
    }

    /// Write a table with a header, [`COLUMNS`](Self::COLUMNS) and the time in seconds.
    ///
    /// # Errors
    /// Whatever the writer gives.
    pub fn write_csv(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "frame,t,id,x,y,theta,vx,vy,radius")?;
        for f in self.frames() {
            let t = f.number as f64 / self.rate;
            for (i, id) in f.id.iter().enumerate() {
                let [x, y, theta] = [f.x[i], f.y[i], f.theta[i]];
                let [vx, vy, radius] = [f.vx[i], f.vy[i], f.radius[i]];
                writeln!(
                    out,
                    "{},{t:.4},{id},{x:.6},{y:.6},{theta:.6},{vx:.6},{vy:.6},{radius:.4}",
                    f.number
                )?;
            }
        }
        Ok(())
    }

    /// Write [`COLUMNS`](Self::COLUMNS) as one JSON object, with all digits.
    ///
    /// # Errors
    /// Whatever the writer gives.
    pub fn write_json(&self, out: &mut impl Write) -> io::Result<()> {
        let frame: Vec<usize> = self.frames().flat_map(|f| f.id.iter().map(move |_| f.number)).collect();
        write!(out, "{{\"format\":\"promenade-trajectory/1\",\"rate\":{},\"columns\":", self.rate)?;
        serde_json::to_writer(&mut *out, &Self::COLUMNS)?;
        write!(out, ",\"frames\":{},\"run\":{{\"frame\":", self.len())?;
        serde_json::to_writer(&mut *out, &frame)?;
        write!(out, ",\"id\":")?;
        serde_json::to_writer(&mut *out, &self.id)?;
        let columns = [&self.x, &self.y, &self.theta, &self.vx, &self.vy, &self.radius];
        for (name, column) in Self::COLUMNS[2..].iter().zip(columns) {
            write!(out, ",\"{name}\":")?;
            serde_json::to_writer(&mut *out, column)?;
        }
        writeln!(out, "}}}}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_frames() -> Trajectory {
        let mut trajectory = Trajectory::new(20.0);
        let frame = |id: &[i32], x: &[f64]| AgentFrame {
            agent_id: id.to_vec(),
            x: x.to_vec(),
            y: vec![0.5; x.len()],
            theta: vec![0.0; x.len()],
            vx: vec![1.0; x.len()],
            vy: vec![-0.25; x.len()],
            radius: vec![0.2; x.len()],
            ..AgentFrame::default()
        };
        trajectory.record(&frame(&[4, -1], &[1.0, 2.0]));
        trajectory.record(&frame(&[4], &[1.05]));
        trajectory.record(&frame(&[], &[]));
        trajectory.record(&frame(&[4], &[1.2]));
        trajectory
    }

    fn written(write: impl Fn(&mut Vec<u8>) -> io::Result<()>) -> String {
        let mut bytes = Vec::new();
        write(&mut bytes).expect("memory takes it");
        String::from_utf8(bytes).expect("text")
    }

    #[test]
    fn frames_come_back_as_they_were_recorded() {
        let trajectory = two_frames();
        assert_eq!((trajectory.len(), trajectory.rows()), (4, 4));
        let ids: Vec<&[i32]> = trajectory.frames().map(|f| f.id).collect();
        assert_eq!(ids, [&[4, -1][..], &[4], &[], &[4]]);
        let paths = trajectory.paths();
        assert_eq!(paths, [vec![[2.0, 0.5]], vec![[1.0, 0.5], [1.05, 0.5]], vec![[1.2, 0.5]]]);
    }

    #[test]
    fn text_is_what_pedestrian_tools_read() {
        let text = written(|out| two_frames().write_text(out, "a corridor\nof ours"));
        assert_eq!(
            text,
            "# description: a corridor\n# description: of ours\n# framerate: 20 fps\n# id frame x/m y/m z/m\n\
             4 0 1.000000 0.500000 0\n-1 0 2.000000 0.500000 0\n4 1 1.050000 0.500000 0\n4 3 1.200000 0.500000 0\n"
        );
    }

    #[test]
    fn tables_have_a_header_and_a_time() {
        let text = written(|out| two_frames().write_csv(out));
        assert_eq!(text.lines().count(), 5);
        assert!(
            text.contains("\n1,0.0500,4,1.050000,0.500000,0.000000,1.000000,-0.250000,0.2000\n"),
            "{text}"
        );
    }

    #[test]
    fn json_holds_every_column_with_all_rows() {
        let text = written(|out| two_frames().write_json(out));
        let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(value["frames"], 4);
        for name in Trajectory::COLUMNS {
            assert_eq!(value["run"][name].as_array().map(Vec::len), Some(4), "{name}");
        }
        assert_eq!(value["run"]["frame"], serde_json::json!([0, 0, 1, 3]));
    }
}
