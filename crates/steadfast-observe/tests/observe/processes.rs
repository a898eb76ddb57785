//! Processes in the background: what of them runs, and what listens on a port.

use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use steadfast_model::Liveness;
use steadfast_observe::processes_of;
use steadfast_testkit::wait_for;

const BUDGET: Duration = Duration::from_secs(5);

/// A process that ends with the test, and with it what it started.
struct Started(Child);

impl Started {
    fn by(command: &mut Command) -> Self {
        Self(command.process_group(0).stdout(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        if let Some(group) = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.0.wait();
    }
}

fn seen(commands: &[Option<&str>]) -> Vec<Liveness> {
    processes_of(std::process::id(), commands, BUDGET)
}

fn shell(command: &str) -> Command {
    let mut shell = Command::new("sh");
    // As Claude Code starts one: the command is a word of the shell's own.
    shell.args(["-c", &format!("eval '{command}' < /dev/null; true")]);
    shell
}

#[test]
fn a_shell_that_runs_is_told_from_one_that_nobody_started() {
    let _running = Started::by(&mut shell("sleep 31.25"));
    let commands = [Some("sleep 31.25"), Some("sleep 31.26"), Some("sleep 31"), Some(""), None];
    let unknown = Liveness::Unknown;
    assert_eq!(seen(&commands), [Liveness::Runs, unknown, unknown, unknown, unknown]);
}

#[test]
fn quotes_and_blanks_make_no_difference() {
    let _running = Started::by(Command::new("sh").args(["-c", "exec 3<&0; sleep 32.25; echo \"it's over\""]));
    assert_eq!(seen(&[Some("exec 3<&0;  sleep 32.25;\necho 'it\\'s over'")]), [Liveness::Runs]);
}

#[test]
fn a_server_is_known_by_the_port_that_it_or_its_child_listens_on() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let socket = Stdio::from(OwnedFd::from(listener));
    // The shell closes it, and the program that it started has it open.
    let command = "exec 3<&0 0< /dev/null; sleep 9.25 & exec 3<&-; wait";
    let shell = Started::by(Command::new("sh").args(["-c", command]).stdin(socket));
    let open = |file: u32| std::fs::read_link(format!("/proc/{}/fd/{file}", shell.0.id())).ok();
    wait_for("the shell closes it", || match (open(0), open(3)) {
        (Some(first), None) if first.ends_with("null") => Ok(()),
        files => Err(format!("{files:?}")),
    });
    assert_eq!(seen(&[Some(command)]), [Liveness::Listens { port }]);
}

#[test]
fn a_process_that_is_connected_does_not_listen() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let socket = Stdio::from(OwnedFd::from(client));
    let _running = Started::by(Command::new("sleep").arg("34.25").stdin(socket));
    assert_eq!(seen(&[Some("sleep 34.25")]), [Liveness::Runs]);
}

#[test]
fn without_time_nothing_is_known() {
    let _running = Started::by(Command::new("sleep").arg("35.25"));
    assert_eq!(processes_of(std::process::id(), &[Some("sleep 35.25")], Duration::ZERO), [Liveness::Unknown]);
}

#[test]
fn a_process_of_somebody_else_is_not_looked_at() {
    let other = Started::by(Command::new("sleep").arg("36.25"));
    assert_eq!(processes_of(other.0.id(), &[Some("sleep 36.25")], BUDGET), [Liveness::Unknown]);
}
