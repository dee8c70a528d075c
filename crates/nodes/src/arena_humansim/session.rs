//! Session logs: written into `log_dir`, and run again with `replay_mode` (crowd-engine specification, section 24).

use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use promenade_crowd::Engine;

/// Logs the session when the parameters ask for it. A log that exists is never written over.
///
/// # Errors
/// When the folder cannot be made or holds a log already.
pub(crate) fn begin(engine: &mut Engine) -> Result<()> {
    let folder = super::text(engine, "log_dir").to_owned();
    if folder.is_empty() {
        return Ok(());
    }
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder).with_context(|| format!("log_dir: cannot make {}", folder.display()))?;
    let log = folder.join("session.jsonl");
    let file = File::create_new(&log).with_context(|| format!("log_dir: cannot write {}", log.display()))?;
    let snapshot = folder.join("config_snapshot.yaml");
    std::fs::write(&snapshot, engine.config_snapshot())
        .with_context(|| format!("log_dir: cannot write {}", snapshot.display()))?;
    engine.log_to(BufWriter::new(file));
    Ok(())
}

/// Runs a session log again and says whether it goes the same way.
///
/// # Errors
/// When it does not, or the file is no log.
pub(crate) fn replay(log: &str) -> Result<()> {
    let file = File::open(log).with_context(|| format!("replay_mode: cannot read {log}"))?;
    let replayed = promenade_crowd::engine::replay(BufReader::new(file))
        .with_context(|| format!("replay_mode: {log}"))?;
    match replayed.divergence {
        Some(divergence) => bail!("replay_mode: {log} goes another way: {divergence:?}"),
        None => {
            tracing::info!("{log}: {} ticks go the same way", replayed.ticks);
            Ok(())
        }
    }
}
