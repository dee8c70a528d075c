//! Processes under test and what they write.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;

use anyhow::{Context as _, Result, bail};
use tempfile::NamedTempFile;

use crate::DEADLINE;

/// The path of one of Promenade's executables in the sourced overlay.
///
/// # Errors
/// When no prefix of `AMENT_PREFIX_PATH` has it.
pub fn executable(name: &str) -> Result<PathBuf> {
    in_prefix(&Path::new("lib/promenade").join(name))
}

/// A file or folder of Promenade's share folder in the sourced overlay.
///
/// # Errors
/// When no prefix of `AMENT_PREFIX_PATH` has it.
pub fn share(name: &str) -> Result<PathBuf> {
    in_prefix(&Path::new("share/promenade").join(name))
}

fn in_prefix(relative: &Path) -> Result<PathBuf> {
    let prefixes = std::env::var_os("AMENT_PREFIX_PATH").unwrap_or_default();
    std::env::split_paths(&prefixes)
        .map(|prefix| prefix.join(relative))
        .find(|path| path.exists())
        .with_context(|| {
            format!("no {relative:?} in AMENT_PREFIX_PATH: `make build`, then source tools/ros2/setup.bash")
        })
}

/// A process under test; killed when dropped. What it wrote then goes to the output of the test, which the test harness
/// shows only when the test fails.
#[derive(Debug)]
pub struct Process {
    name: String,
    child: Option<Child>,
    id: u32,
    log: NamedTempFile,
}

/// How a process ended.
#[derive(Debug)]
pub struct Ended {
    /// Its exit status.
    pub status: ExitStatus,
    /// What it wrote on both outputs.
    pub log: String,
}

impl Process {
    /// Starts Promenade's node `name` with arguments, in this process' ROS domain.
    ///
    /// # Errors
    /// When the executable is missing or does not start.
    pub fn node<S: AsRef<OsStr>>(name: &str, arguments: impl IntoIterator<Item = S>) -> Result<Self> {
        Self::start(&executable(name)?, arguments)
    }

    /// Starts a program.
    ///
    /// # Errors
    /// When it does not start.
    pub fn start<S: AsRef<OsStr>>(program: &Path, arguments: impl IntoIterator<Item = S>) -> Result<Self> {
        let log = NamedTempFile::new()?;
        let child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(log.reopen()?)
            .stderr(log.as_file().try_clone()?)
            .spawn()
            .with_context(|| format!("cannot start {program:?}"))?;
        Ok(Self { name: program.display().to_string(), id: child.id(), child: Some(child), log })
    }

    /// Process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.id
    }

    /// What the process wrote so far.
    #[must_use]
    pub fn log(&self) -> String {
        // A process may write anything.
        String::from_utf8_lossy(&std::fs::read(self.log.path()).unwrap_or_default()).into_owned()
    }

    /// How often the process wrote `text`.
    #[must_use]
    pub fn logged(&self, text: &str) -> usize {
        self.log().matches(text).count()
    }

    /// Fails when the process has ended.
    ///
    /// # Errors
    /// With the exit status of a process that no longer runs.
    pub fn check_alive(&mut self) -> Result<()> {
        match self.child.as_mut().context("the process was waited for")?.try_wait()? {
            Some(status) => bail!("{} ended with {status}", self.name),
            None => Ok(()),
        }
    }

    /// Ends the process as Ctrl-C would and waits for it.
    ///
    /// # Errors
    /// When it does not end in time.
    pub fn interrupt(self) -> Result<Ended> {
        self.signal(libc::SIGINT)?;
        self.wait()
    }

    /// Ends the process without giving it a chance to say goodbye, and waits for it.
    ///
    /// # Errors
    /// When it does not end in time.
    pub fn kill(self) -> Result<Ended> {
        self.signal(libc::SIGKILL)?;
        self.wait()
    }

    fn signal(&self, signal: libc::c_int) -> Result<()> {
        let id = libc::pid_t::try_from(self.id)?;
        // SAFETY: a plain system call; the child is ours and not reaped yet, so that the id is still its own.
        match unsafe { libc::kill(id, signal) } {
            0 => Ok(()),
            _ => bail!("cannot signal {}: {}", self.name, std::io::Error::last_os_error()),
        }
    }

    /// Waits until the process ends by itself.
    ///
    /// # Errors
    /// When it does not end in time; it is killed then.
    pub fn wait(mut self) -> Result<Ended> {
        let mut child = self.child.take().context("the process was waited for")?;
        let (tell, told) = mpsc::channel();
        std::thread::spawn(move || tell.send(child.wait()));
        match told.recv_timeout(DEADLINE) {
            Ok(status) => Ok(Ended { status: status?, log: self.log() }),
            Err(_) => {
                self.signal(libc::SIGKILL)?;
                bail!("{} still runs after {DEADLINE:?}", self.name)
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            // The process may be gone already; there is nothing else to do about it.
            let _ = child.kill();
            let _ = child.wait();
        }
        println!("---- {} ({}) wrote:\n{}", self.name, self.id, self.log());
    }
}
