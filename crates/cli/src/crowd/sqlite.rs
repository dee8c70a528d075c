//! Trajectories as the database that JuPedSim writes (version 2 of its schema), which JuPedSim's viewer and PedPy open.

use std::path::Path;

use anyhow::{Context, Result};
use promenade_crowd::Trajectory;
use rusqlite::{Connection, params};

const VERSION: i64 = 2;
/// The only geometry there is, by its name in the database.
const GEOMETRY: i64 = 1;

/// Write a database; one that is there is replaced. `area` is where people can walk, as well-known text.
pub(super) fn write(file: &Path, trajectory: &Trajectory, bounds: [f64; 4], area: &str) -> Result<()> {
    if file.exists() {
        std::fs::remove_file(file).with_context(|| format!("cannot replace {}", file.display()))?;
    }
    let mut database = Connection::open(file).with_context(|| format!("cannot open {}", file.display()))?;
    fill(&mut database, trajectory, bounds, area).with_context(|| format!("cannot write {}", file.display()))
}

fn fill(
    database: &mut Connection,
    trajectory: &Trajectory,
    bounds: [f64; 4],
    area: &str,
) -> rusqlite::Result<()> {
    // Nobody reads the file before it is complete, and one that breaks off is written again.
    database.pragma_update(None, "synchronous", "OFF")?;
    database.pragma_update(None, "journal_mode", "OFF")?;
    let transaction = database.transaction()?;
    transaction.execute_batch(
        "CREATE TABLE trajectory_data(
            frame INTEGER NOT NULL, id INTEGER NOT NULL, pos_x REAL NOT NULL, pos_y REAL NOT NULL,
            ori_x REAL NOT NULL, ori_y REAL NOT NULL);
        CREATE TABLE metadata(key TEXT NOT NULL UNIQUE PRIMARY KEY, value TEXT NOT NULL);
        CREATE TABLE geometry(hash INTEGER NOT NULL, wkt TEXT NOT NULL);
        CREATE UNIQUE INDEX geometry_hash ON geometry(hash);
        CREATE TABLE frame_data(frame INTEGER NOT NULL, geometry_hash INTEGER NOT NULL);",
    )?;
    let [x_min, y_min, x_max, y_max] = bounds;
    for (key, value) in [
        ("version", VERSION.to_string()),
        ("fps", trajectory.rate().to_string()),
        ("xmin", x_min.to_string()),
        ("xmax", x_max.to_string()),
        ("ymin", y_min.to_string()),
        ("ymax", y_max.to_string()),
    ] {
        transaction.execute("INSERT INTO metadata VALUES(?, ?)", params![key, value])?;
    }
    transaction.execute("INSERT INTO geometry VALUES(?, ?)", params![GEOMETRY, area])?;
    {
        let mut row = transaction.prepare("INSERT INTO trajectory_data VALUES(?, ?, ?, ?, ?, ?)")?;
        let mut scene = transaction.prepare("INSERT INTO frame_data VALUES(?, ?)")?;
        for frame in trajectory.frames() {
            let number = frame.number as i64;
            for (i, id) in frame.id.iter().enumerate() {
                let (sin, cos) = frame.theta[i].sin_cos();
                row.execute(params![number, id, frame.x[i], frame.y[i], cos, sin])?;
            }
            scene.execute(params![number, GEOMETRY])?;
        }
    }
    transaction.execute_batch("CREATE INDEX frame_id_idx ON trajectory_data(frame, id);")?;
    transaction.commit()
}

#[cfg(test)]
mod tests {
    use super::*;
    use promenade_crowd::protocol::AgentFrame;

    #[test]
    fn a_database_holds_every_row_and_the_frame_rate() {
        let mut trajectory = Trajectory::new(10.0);
        trajectory.record(&AgentFrame {
            agent_id: vec![3, 5],
            x: vec![1.0, 2.0],
            y: vec![0.5, -0.5],
            theta: vec![0.0, std::f64::consts::FRAC_PI_2],
            vx: vec![0.0; 2],
            vy: vec![0.0; 2],
            radius: vec![0.2; 2],
            ..AgentFrame::default()
        });
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("t.sqlite");
        for _ in 0..2 {
            write(&file, &trajectory, [0.0, 0.0, 4.0, 4.0], "POLYGON((0 0, 4 0, 4 4, 0 4, 0 0))")
                .expect("written");
        }
        let database = Connection::open(&file).expect("opens");
        let number =
            |query: &str| database.query_row(query, [], |row| row.get::<_, f64>(0)).expect("a number");
        assert_eq!(number("SELECT COUNT(*) FROM trajectory_data"), 2.0);
        assert_eq!(number("SELECT CAST(value AS REAL) FROM metadata WHERE key = 'fps'"), 10.0);
        assert_eq!(number("SELECT ori_y FROM trajectory_data WHERE id = 5"), 1.0);
    }
}
