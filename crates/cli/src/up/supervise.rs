//! Runs the processes of a launch file until all have ended, and ends them when asked.
//!
//! Every process leads its own process group, so that a Ctrl-C of the terminal reaches only this program, which passes it on:
//! SIGINT first, SIGTERM and SIGKILL when that does not help in time or the user insists. One event loop owns all state; threads
//! only read pipes and wait. Knows nothing of launch files, and shows lines only through the sink it is given.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use super::plan::{ProcessSpec, Step};

/// Longest line that is kept together; a longer one is split, so that a process that never ends its line costs no memory.
const LONGEST_LINE: u64 = 64 * 1024;

/// Events that may wait for the event loop before the processes that write too fast are held back.
const QUEUE: usize = 1024;

/// What can happen.
#[derive(Debug)]
pub(crate) enum Event {
    Line {
        process: usize,
        from: Stream,
        text: String,
    },
    Closed,
    Ended {
        process: usize,
        status: std::io::Result<ExitStatus>,
    },
    /// Somebody wants the launch to end; said again, it means that the last signal was not enough.
    Stop,
}

/// Which stream of a process a line came from, and which of ours it goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    Output,
    Error,
}

/// How long processes may take to end after a signal before the next one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// From SIGINT to SIGTERM.
    pub(crate) interrupt: Duration,
    /// From SIGTERM to SIGKILL.
    pub(crate) terminate: Duration,
    /// From the last end of a process to giving up on its pipes, which a grandchild may hold open.
    pub(crate) drain: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            interrupt: Duration::from_secs(5),
            terminate: Duration::from_secs(5),
            drain: Duration::from_secs(1),
        }
    }
}

/// A channel for events; the sender is for [`Event::Stop`].
pub(crate) fn events() -> (SyncSender<Event>, Receiver<Event>) {
    sync_channel(QUEUE)
}

struct Running {
    label: String,
    command: String,
    group: Pid,
    ends_launch: bool,
    ended: bool,
}

struct Supervisor<'a> {
    processes: Vec<Running>,
    open_streams: usize,
    patience: Patience,
    /// The last signal sent because the launch is ending, and when the next is due.
    ending: Option<(Signal, Instant)>,
    failed: bool,
    show: &'a mut dyn FnMut(Stream, &str),
}

/// Starts everything in `steps` and returns when all processes have ended: whether none failed.
///
/// `limit` ends the launch by itself. A process fails when it ends by itself with anything but 0, when it cannot be started, or when
/// it has to be killed; ending by the signal it was sent is no failure.
pub(crate) fn supervise(
    steps: &[Step],
    limit: Option<Duration>,
    patience: Patience,
    (sender, receiver): (SyncSender<Event>, Receiver<Event>),
    show: &mut dyn FnMut(Stream, &str),
) -> bool {
    let mut supervisor =
        Supervisor { processes: Vec::new(), open_streams: 0, patience, ending: None, failed: false, show };
    for step in steps {
        match step {
            Step::Log(message) => (supervisor.show)(Stream::Output, &format!("[launch] {message}")),
            Step::Start(process) => {
                if !supervisor.start(process, &sender) {
                    supervisor.end(Signal::SIGINT);
                    break;
                }
            }
        }
    }
    supervisor.watch(limit.map(|limit| Instant::now() + limit), &receiver);
    !supervisor.failed
}

impl Supervisor<'_> {
    fn say(&mut self, text: &str) {
        (self.show)(Stream::Output, text);
    }

    fn complain(&mut self, text: &str) {
        (self.show)(Stream::Error, text);
    }

    fn start(&mut self, process: &ProcessSpec, sender: &SyncSender<Event>) -> bool {
        let program = match &process.program {
            Ok(program) => program,
            Err(missing) => {
                self.failed = true;
                self.complain(&format!("[ERROR] [{}]: {missing}", process.label));
                return false;
            }
        };
        let spawned = Command::new(program)
            .args(&process.arguments)
            .envs(process.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn();
        let child = match spawned {
            Ok(child) => child,
            Err(error) => {
                self.failed = true;
                self.complain(&format!(
                    "[ERROR] [{}]: cannot start {}: {error}",
                    process.label,
                    program.display()
                ));
                return false;
            }
        };
        let id = child.id();
        let index = self.processes.len();
        self.processes.push(Running {
            label: process.label.clone(),
            command: program.display().to_string(),
            group: Pid::from_raw(id.cast_signed()),
            ends_launch: process.ends_launch,
            ended: false,
        });
        self.say(&format!("[INFO] [{}]: process started with pid [{id}]", process.label));
        self.open_streams += watch_child(child, index, process.shows_stdout, sender);
        true
    }

    fn watch(&mut self, limit: Option<Instant>, receiver: &Receiver<Event>) {
        let mut drain = None;
        loop {
            if self.processes.iter().all(|process| process.ended) {
                if self.open_streams == 0 {
                    return;
                }
                drain.get_or_insert_with(|| Instant::now() + self.patience.drain);
            }
            let next = match (drain, self.ending) {
                (Some(drain), _) => Some(drain),
                (None, Some((Signal::SIGKILL, _))) => None,
                (None, Some((_, next))) => Some(next),
                (None, None) => limit,
            };
            let event = match next {
                None => receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(next) => receiver.recv_timeout(next.saturating_duration_since(Instant::now())),
            };
            match (event, drain, self.ending) {
                (Ok(event), ..) => self.handle(event),
                (Err(_), Some(_), _) | (Err(RecvTimeoutError::Disconnected), ..) => return,
                (Err(RecvTimeoutError::Timeout), None, None) => self.end(Signal::SIGINT),
                (Err(RecvTimeoutError::Timeout), None, Some((last, _))) => self.end(harder(last)),
            }
        }
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Line { process, from, text } => {
                let line = format!("[{}] {text}", self.processes[process].label);
                (self.show)(from, &line);
            }
            Event::Closed => self.open_streams = self.open_streams.saturating_sub(1),
            Event::Stop => {
                let signal = self.ending.map_or(Signal::SIGINT, |(last, _)| harder(last));
                self.end(signal);
            }
            Event::Ended { process, status } => self.ended(process, status),
        }
    }

    fn ended(&mut self, index: usize, status: std::io::Result<ExitStatus>) {
        let process = &mut self.processes[index];
        process.ended = true;
        let (label, command, ends_launch) =
            (process.label.clone(), process.command.clone(), process.ends_launch);
        let pid = process.group;
        match status {
            Err(error) => {
                self.failed = true;
                self.complain(&format!("[ERROR] [{label}]: cannot wait for the process: {error}"));
            }
            Ok(status) if status.success() => {
                self.say(&format!("[INFO] [{label}]: process has finished cleanly [pid {pid}]"));
            }
            Ok(status) => {
                let how = match (status.code(), status.signal()) {
                    (Some(code), _) => format!("exit code {code}"),
                    (None, signal) => format!("signal {}", signal.unwrap_or_default()),
                };
                let sent = |signal: Signal| status.signal() == Some(signal as i32);
                if self.ending.is_some() && (sent(Signal::SIGINT) || sent(Signal::SIGTERM)) {
                    self.say(&format!("[INFO] [{label}]: process has ended [pid {pid}, {how}]"));
                } else {
                    self.failed = true;
                    self.complain(&format!(
                        "[ERROR] [{label}]: process has died [pid {pid}, {how}, command {command}]"
                    ));
                }
            }
        }
        if ends_launch && self.ending.is_none() {
            self.say(&format!("[INFO] [{label}]: was required, ending the launch"));
            self.end(Signal::SIGINT);
        }
    }

    /// Sends `signal` to every process that still runs, and says when the next one is due.
    fn end(&mut self, signal: Signal) {
        let wait = if signal == Signal::SIGINT { self.patience.interrupt } else { self.patience.terminate };
        self.ending = Some((signal, Instant::now() + wait));
        for index in 0..self.processes.len() {
            let process = &self.processes[index];
            if process.ended {
                continue;
            }
            let (label, group) = (process.label.clone(), process.group);
            if signal == Signal::SIGINT {
                self.say(&format!("[INFO] [{label}]: sending signal 'SIGINT'"));
            } else {
                self.complain(&format!("[WARN] [{label}]: sending signal '{signal}'"));
            }
            match killpg(group, signal) {
                // It ended a moment ago; its end is on its way to the event loop.
                Ok(()) | Err(Errno::ESRCH) => {}
                Err(error) => self.complain(&format!("[ERROR] [{label}]: cannot send {signal}: {error}")),
            }
        }
    }
}

fn harder(last: Signal) -> Signal {
    if last == Signal::SIGINT { Signal::SIGTERM } else { Signal::SIGKILL }
}

/// Hands a child over to threads that report its lines and its end; returns how many streams will report that they closed.
fn watch_child(mut child: Child, process: usize, shows_stdout: bool, sender: &SyncSender<Event>) -> usize {
    let mut streams: Vec<(Stream, Box<dyn Read + Send>, bool)> = Vec::new();
    if let Some(output) = child.stdout.take() {
        streams.push((Stream::Output, Box::new(output), shows_stdout));
    }
    if let Some(errors) = child.stderr.take() {
        streams.push((Stream::Error, Box::new(errors), true));
    }
    let count = streams.len();
    for (from, stream, shown) in streams {
        let sender = sender.clone();
        thread::spawn(move || {
            read_lines(stream, |text| !shown || sender.send(Event::Line { process, from, text }).is_ok());
            // Nobody listens any more when this fails: the launch is over.
            let _ = sender.send(Event::Closed);
        });
    }
    let sender = sender.clone();
    thread::spawn(move || {
        let status = child.wait();
        let _ = sender.send(Event::Ended { process, status });
    });
    count
}

/// Gives the lines of `stream` to `take` until the stream ends or `take` wants no more.
fn read_lines(stream: impl Read, mut take: impl FnMut(String) -> bool) {
    let mut stream = BufReader::new(stream);
    let mut line = Vec::new();
    loop {
        line.clear();
        match stream.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let text = String::from_utf8_lossy(&line);
        if !take(text.trim_end_matches(['\n', '\r']).to_owned()) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENT: Patience = Patience {
        interrupt: Duration::from_secs(600),
        terminate: Duration::from_secs(600),
        drain: Duration::from_secs(600),
    };
    const IMPATIENT: Patience =
        Patience { interrupt: Duration::from_millis(1), terminate: Duration::from_millis(1), ..PATIENT };

    fn shell(label: &str, script: &str) -> ProcessSpec {
        ProcessSpec {
            label: label.to_owned(),
            program: Ok("/bin/sh".into()),
            origin: "test/sh".to_owned(),
            arguments: vec!["-c".to_owned(), script.to_owned()],
            environment: vec![("GREETING".to_owned(), "hello".to_owned())],
            shows_stdout: true,
            ends_launch: false,
        }
    }

    /// Runs `processes`, asking for the end whenever a line appears that contains one of `stops`.
    fn run(
        processes: &[ProcessSpec],
        limit: Option<Duration>,
        patience: Patience,
        stops: &[&str],
    ) -> (bool, Vec<(Stream, String)>) {
        let steps: Vec<Step> = processes.iter().cloned().map(Step::Start).collect();
        let channel = events();
        let sender = channel.0.clone();
        let mut lines = Vec::new();
        let good = supervise(&steps, limit, patience, channel, &mut |stream, line| {
            if stops.iter().any(|text| line.contains(text)) {
                sender.send(Event::Stop).expect("event loop");
            }
            lines.push((stream, line.to_owned()));
        });
        (good, lines)
    }

    fn has(lines: &[(Stream, String)], text: &str) -> bool {
        lines.iter().any(|(_, line)| line.contains(text))
    }

    const LOYAL: &str = "trap 'echo bye; exit 0' INT; echo ready; while :; do sleep 0.01; done";
    const DEAF: &str = "trap '' INT TERM; echo ready; while :; do sleep 0.01; done";

    #[test]
    fn lines_carry_the_label_and_keep_their_stream() {
        let script = "echo out; echo err >&2; printf 'no end'; echo $GREETING";
        let (good, lines) = run(&[shell("talker-1", script)], None, PATIENT, &[]);
        assert!(good);
        assert!(lines.contains(&(Stream::Output, "[talker-1] out".to_owned())));
        assert!(lines.contains(&(Stream::Error, "[talker-1] err".to_owned())));
        assert!(lines.contains(&(Stream::Output, "[talker-1] no endhello".to_owned())));
        assert!(has(&lines, "process has finished cleanly"));

        let hidden = ProcessSpec { shows_stdout: false, ..shell("talker-1", script) };
        let (_, lines) = run(&[hidden], None, PATIENT, &[]);
        assert!(!has(&lines, "[talker-1] out") && has(&lines, "[talker-1] err"));
    }

    #[test]
    fn a_process_that_dies_leaves_the_others_running_and_fails_the_launch() {
        let processes = [shell("dies-1", "exit 3"), shell("lives-2", LOYAL)];
        // The second process is interrupted only after the first has died.
        let (good, lines) = run(&processes, None, PATIENT, &["process has died"]);
        assert!(!good);
        assert!(has(&lines, "[dies-1]: process has died") && has(&lines, "exit code 3"));
        assert!(has(&lines, "[INFO] [lives-2]: sending signal 'SIGINT'"));
    }

    #[test]
    fn an_interrupt_reaches_every_process_and_is_no_failure() {
        let (good, lines) = run(&[shell("a-1", LOYAL)], None, PATIENT, &["[a-1] ready"]);
        assert!(good && has(&lines, "[a-1] bye"), "{lines:?}");
        let idle = shell("a-1", "echo ready; exec sleep 600");
        let (good, lines) = run(&[idle], None, PATIENT, &["[a-1] ready"]);
        assert!(good && has(&lines, "signal 2"), "{lines:?}");
    }

    #[test]
    fn a_deaf_process_is_killed_in_the_end() {
        let (good, lines) = run(&[shell("deaf-1", DEAF)], None, IMPATIENT, &["[deaf-1] ready"]);
        assert!(!good && has(&lines, "signal 9"), "{lines:?}");
    }

    #[test]
    fn asking_again_is_answered_at_once() {
        let stops = ["[deaf-1] ready", "'SIGINT'", "'SIGTERM'"];
        let (good, lines) = run(&[shell("deaf-1", DEAF)], None, PATIENT, &stops);
        assert!(!good && has(&lines, "signal 9"), "{lines:?}");
    }

    #[test]
    fn a_required_process_takes_the_others_with_it() {
        let required = ProcessSpec { ends_launch: true, ..shell("main-2", "exit 0") };
        let (good, lines) = run(&[shell("other-1", "exec sleep 600"), required], None, PATIENT, &[]);
        assert!(good && has(&lines, "[main-2]: was required"), "{lines:?}");
    }

    #[test]
    fn a_limit_ends_the_launch() {
        let (good, lines) = run(&[shell("a-1", "exec sleep 600")], Some(Duration::ZERO), PATIENT, &[]);
        assert!(good && has(&lines, "sending signal 'SIGINT'"), "{lines:?}");
    }

    #[test]
    fn a_process_that_cannot_start_ends_the_others() {
        let missing = ProcessSpec { program: Ok("/nonexistent/program".into()), ..shell("gone-2", "") };
        let (good, lines) =
            run(&[shell("a-1", "exec sleep 600"), missing, shell("never-3", "")], None, PATIENT, &[]);
        assert!(
            !good && has(&lines, "cannot start /nonexistent/program") && !has(&lines, "never-3"),
            "{lines:?}"
        );
    }

    #[test]
    fn a_line_without_end_is_split() {
        let mut lines = Vec::new();
        let text = vec![b'x'; 150_000];
        read_lines(text.as_slice(), |line| {
            lines.push(line.len());
            true
        });
        assert_eq!(lines, [65_536, 65_536, 18_928]);
    }
}
