//! Result files: a row per run in one file, the steps of each run in a file of their own.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use promenade_hunav::metrics::{Delimiter, Evaluation, Metric, Session, file_word, row, steps, title};

use super::settings::Settings;

/// Files with other columns that are stepped over at most.
const MOST_FILES: u32 = 1000;

/// Writes the metrics of a recording; the files.
pub(super) fn write(settings: &Settings, session: Session) -> Result<Vec<String>> {
    let (tag, run) = (session.tag().to_owned(), session.run());
    let (whole, parts) = session.finish();
    if let Some(folder) = settings.base.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    let mut written = Vec::new();
    for delimiter in &settings.formats {
        let results = Results { delimiter: *delimiter, metrics: &settings.metrics, tag: &tag, run };
        written.extend(results.write(&settings.base, "", &whole)?);
        if *delimiter == Delimiter::Tab {
            for (kind, part) in &parts {
                written.extend(results.write(&settings.base, &format!("_beh_{}", *kind as u8), part)?);
            }
        }
    }
    Ok(written)
}

/// What is the same for all files of a recording and a format.
struct Results<'a> {
    delimiter: Delimiter,
    metrics: &'a [Metric],
    tag: &'a str,
    run: i32,
}

impl Results<'_> {
    /// Appends the row, writes the steps. `part` says which people it is about.
    fn write(&self, base: &Path, part: &str, evaluation: &Evaluation) -> Result<[String; 2]> {
        let table = self.append(base, part, evaluation)?;
        let tag = file_word(self.tag);
        let name = match self.delimiter {
            Delimiter::Comma => format!("_steps_{tag}_{}.csv", self.run),
            Delimiter::Tab => format!("_steps_{tag}{part}.txt"),
        };
        let path = with(base, &name);
        std::fs::write(&path, steps(self.delimiter, self.metrics, evaluation))
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok([table.display().to_string(), path.display().to_string()])
    }

    /// Appends the row to the first file that is new or has these columns, so that no table ever gets rows of another.
    fn append(&self, base: &Path, part: &str, evaluation: &Evaluation) -> Result<PathBuf> {
        let title = title(self.delimiter, self.metrics);
        let ending = if self.delimiter == Delimiter::Comma { "csv" } else { "txt" };
        for number in 1..=MOST_FILES {
            let number = if number == 1 { String::new() } else { format!("_{number}") };
            let path = with(base, &format!("{part}{number}.{ending}"));
            let cannot = || format!("cannot write {}", path.display());
            let before = match std::fs::read(&path) {
                Ok(before) => before,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
                Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
            };
            if !before.is_empty() && !before.starts_with(title.as_bytes()) {
                continue;
            }
            let mut text = if before.is_empty() { title } else { String::new() };
            text += &row(self.delimiter, self.metrics, self.tag, self.run, evaluation);
            let mut file = OpenOptions::new().create(true).append(true).open(&path).with_context(cannot)?;
            file.write_all(text.as_bytes()).with_context(cannot)?;
            return Ok(path);
        }
        anyhow::bail!("{MOST_FILES} files like {}.{ending} have other columns", base.display())
    }
}

/// A base with the rest of a name.
fn with(base: &Path, rest: &str) -> PathBuf {
    let mut name = base.as_os_str().to_owned();
    name.push(rest);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use promenade_hunav::metrics::{Accumulator, Body, Frame, Settings as MetricSettings};

    use super::*;

    fn evaluation() -> Evaluation {
        let mut metrics = Accumulator::new(MetricSettings::default());
        metrics.push(&Frame { robot: Body::default(), ..Frame::default() });
        metrics.finish()
    }

    #[test]
    fn runs_are_rows_of_one_table_and_other_columns_begin_another() {
        let folder = std::env::temp_dir().join(format!("hunav_evaluator_{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let base = folder.join("m");
        let write = |metrics: &[Metric], run| {
            let results = Results { delimiter: Delimiter::Comma, metrics, tag: "a/b", run };
            results.write(&base, "", &evaluation()).expect("written")
        };
        let [table, steps] = write(&[Metric::PathLength], 1);
        assert!(steps.ends_with("m_steps_a_b_1.csv"), "{steps}");
        assert_eq!(write(&[Metric::PathLength], 2)[0], table);
        let [other, _] = write(&[Metric::TimeNotMoving], 3);
        assert!(other.ends_with("m_2.csv"), "{other}");
        let text = std::fs::read_to_string(&table).expect("read");
        assert_eq!(text, "experiment_tag,path_length,run_id\na/b,0,1\na/b,0,2\n");
        std::fs::remove_dir_all(&folder).expect("removed");
    }
}
