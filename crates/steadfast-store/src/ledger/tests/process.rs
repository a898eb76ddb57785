//! Other processes: this test program again, playing one part.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{self, Command, ExitStatus};

use super::*;

const PART: &str = "STEADFAST_TEST_PART";
const PLACE: &str = "STEADFAST_TEST_PLACE";

pub(super) fn play(part: &str, place: &Path) -> Command {
    as_program(&env::current_exe().unwrap(), part, place)
}

pub(super) fn as_program(program: &Path, part: &str, place: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(["--exact", "ledger::tests::process::part", "--ignored"]).env(PART, part).env(PLACE, place);
    command
}

pub(super) fn copy(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg(from).arg(to).status().unwrap().success());
}

pub(super) fn quietly(mut command: Command) -> ExitStatus {
    command.output().unwrap().status
}

#[test]
#[ignore = "a part that other tests play in a process of its own"]
fn part() {
    let Ok(part) = env::var(PART) else { return };
    let place = PathBuf::from(env::var_os(PLACE).unwrap());
    match part.as_str() {
        "open" => drop(Ledger::open_within(&place, PATIENT).unwrap()),
        "die while draining" => die_while_draining(&place, (1..=5).map(|now| refused(&session("s"), now))),
        "die among steps" => die_while_draining(&place, work::five()),
        "read where nothing can be written" => opening::read_where_nothing_can_be_written(&place),
        other => panic!("no part `{other}`"),
    }
}

fn die_while_draining(place: &Path, records: impl Iterator<Item = Record>) {
    let mut ledger = Ledger::open_within(place, PATIENT).unwrap();
    let lines = journal(records);
    let _ = ledger.drain(
        &session("s"),
        0,
        lines.into_iter().inspect(|line| {
            if line.sequence == 4 {
                process::abort();
            }
        }),
    );
}
