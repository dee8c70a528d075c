//! The `promenade up` command as a user meets it: real processes, real signals.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// An install prefix whose package `demo` has the executable `talker`, a shell script, and a launch file that starts it.
fn install(script: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("temporary folder");
    for path in ["share/demo", "lib/demo"] {
        std::fs::create_dir_all(folder.path().join(path)).expect("folder");
    }
    std::fs::write(folder.path().join("share/demo/package.xml"), "<package/>").expect("file");
    let talker = folder.path().join("lib/demo/talker");
    std::fs::write(&talker, format!("#!/bin/sh\n{script}\n")).expect("file");
    std::fs::set_permissions(&talker, std::fs::Permissions::from_mode(0o755)).expect("permissions");
    std::fs::write(
        folder.path().join("talk.launch.xml"),
        r#"<launch>
  <arg name="word" default="hello" description="What is said."/>
  <log message="saying $(var word)"/>
  <node pkg="demo" exec="talker" name="t" output="screen"><param name="word" value="$(var word)" type="str"/></node>
</launch>"#,
    )
    .expect("file");
    folder
}

fn promenade(prefix: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_promenade"));
    command.args(arguments).current_dir(prefix).env("AMENT_PREFIX_PATH", prefix).stdin(Stdio::null());
    command
}

#[test]
fn nodes_get_their_arguments_and_their_lines_are_labelled() {
    let prefix = install("echo \"$@\"; echo oops >&2");
    let output = promenade(prefix.path(), &["up", "talk.launch.xml", "word:=0"]).output().expect("promenade");
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{stdout}");
    assert!(
        stdout.starts_with("[launch] saying 0\n[INFO] [talker-1]: process started with pid ["),
        "{stdout}"
    );
    assert!(stdout.contains("[talker-1] --ros-args -r __node:=t -p word:=\"0\"\n"), "{stdout}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("[talker-1] oops"));
}

#[test]
fn both_signals_stop_the_nodes_and_leave_none_behind() {
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let prefix =
            install("trap 'echo bye; exit 0' INT TERM; echo \"ready $$\"; while :; do sleep 0.01; done");
        let mut child = promenade(prefix.path(), &["up", "talk.launch.xml"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("promenade");
        let mut stdout = BufReader::new(child.stdout.take().expect("stdout"));
        let mut line = String::new();
        while !line.contains("[talker-1] ready") {
            line.clear();
            assert!(stdout.read_line(&mut line).expect("line") > 0, "the node never was ready");
        }
        let node: i32 = line.trim().rsplit(' ').next().and_then(|pid| pid.parse().ok()).expect("pid");
        kill(Pid::from_raw(child.id().cast_signed()), signal).expect("signal");
        let mut rest = String::new();
        stdout.read_to_string(&mut rest).expect("rest");
        assert!(child.wait().expect("end").success(), "{rest}");
        assert!(rest.contains("[talker-1] bye"), "{rest}");
        assert!(kill(Pid::from_raw(node), None).is_err(), "the node is still there");
    }
}

#[test]
fn a_node_that_fails_fails_the_command() {
    let prefix = install("exit 7");
    let output = promenade(prefix.path(), &["up", "talk.launch.xml"]).output().expect("promenade");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("process has died"));
}

#[test]
fn a_limit_stops_a_launch_that_would_go_on() {
    let prefix = install("exec sleep 600");
    let output =
        promenade(prefix.path(), &["up", "talk.launch.xml", "--for", "0"]).output().expect("promenade");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn what_would_run_can_be_looked_at() {
    let prefix = install("exit 7");
    let output = promenade(prefix.path(), &["up", "talk.launch.xml", "word:=a b", "--print"])
        .output()
        .expect("promenade");
    let stdout = String::from_utf8_lossy(&output.stdout);
    let talker = prefix.path().join("lib/demo/talker");
    assert_eq!(
        stdout,
        format!("# saying a b\n{} --ros-args -r __node:=t -p 'word:=\"a b\"'\n", talker.display())
    );
    let output =
        promenade(prefix.path(), &["up", "talk.launch.xml", "--show-args"]).output().expect("promenade");
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(stdout.contains("    'word':\n        What is said.\n        (default: 'hello')\n"), "{stdout}");
}

#[test]
fn mistakes_are_answered_before_anything_starts() {
    let prefix = install("echo started");
    let missing = prefix.path().join("lib/demo/talker");
    for (arguments, expected) in [
        (&["up", "talk.launch.xml", "wrod:=x"][..], "no argument `wrod`; did you mean `word`?"),
        (&["up", "talk.launch.xml", "word"][..], "expected NAME:=VALUE"),
        (&["up", "nothing"][..], "no launch file nothing"),
    ] {
        let output = promenade(prefix.path(), arguments).output().expect("promenade");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && stderr.contains(expected), "{stderr}");
    }
    std::fs::remove_file(missing).expect("remove");
    let output = promenade(prefix.path(), &["up", "talk.launch.xml"]).output().expect("promenade");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("nothing was started: package `demo` has no executable `talker`"), "{stderr}");
    assert!(output.stdout.is_empty());
}
