//! Trajectories into files, by what a file's name ends with.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};
use promenade_crowd::analysis::WalkableArea;
use promenade_crowd::{Segment, Trajectory};

use super::sqlite;

/// What a file's name asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Json,
    Csv,
    Text,
    Sqlite,
}

impl Format {
    pub(super) fn of(file: &Path) -> Result<Self> {
        let ending = file.extension().map(|e| e.to_string_lossy().to_lowercase());
        match ending.as_deref() {
            Some("json") => Ok(Self::Json),
            Some("csv") => Ok(Self::Csv),
            Some("txt") => Ok(Self::Text),
            Some("sqlite" | "sqlite3" | "db") => Ok(Self::Sqlite),
            _ => bail!(
                "cannot tell what to write into {}; end its name in .json, .csv, .txt (PedPy) or .sqlite (JuPedSim)",
                file.display()
            ),
        }
    }
}

pub(super) fn write(file: &Path, name: &str, trajectory: &Trajectory, walls: &[Segment]) -> Result<()> {
    let format = Format::of(file)?;
    if format == Format::Sqlite {
        let area = WalkableArea::of(walls, trajectory);
        return sqlite::write(file, trajectory, area.bounds(), &area.to_wkt());
    }
    let writing = || format!("cannot write {}", file.display());
    let mut out = BufWriter::new(File::create(file).with_context(writing)?);
    match format {
        Format::Json => trajectory.write_json(&mut out),
        Format::Csv => trajectory.write_csv(&mut out),
        _ => trajectory.write_text(&mut out, &format!("{name}, by promenade crowd")),
    }
    .and_then(|()| out.flush())
    .with_context(writing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_name_decides_about_the_format() {
        assert_eq!(Format::of(Path::new("a/b.TXT")).ok(), Some(Format::Text));
        assert_eq!(Format::of(Path::new("b.sqlite")).ok(), Some(Format::Sqlite));
        let error = Format::of(Path::new("b.xls")).expect_err("unknown").to_string();
        assert!(error.contains(".sqlite (JuPedSim)"), "{error}");
    }
}
