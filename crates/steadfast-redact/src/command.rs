//! Commands that take a password after a one-letter flag.

use Argument::{Attached, Either, Separate};

use crate::class::Class;
use crate::scan::Scanner;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Argument {
    /// `-psecret`; `-p secret` means something else.
    Attached,
    /// `-p secret`
    Separate,
    Either,
}

#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) word: &'static str,
    pub(crate) flag: u8,
    pub(crate) argument: Argument,
}

const fn command(word: &'static str, flag: u8, argument: Argument) -> Command {
    Command { word, flag, argument }
}

pub(crate) const COMMANDS: &[Command] = &[
    command("mysql", b'p', Attached),
    command("mysqldump", b'p', Attached),
    command("mysqladmin", b'p', Attached),
    command("mysqlimport", b'p', Attached),
    command("mariadb", b'p', Attached),
    command("mariadb-dump", b'p', Attached),
    command("7z", b'p', Attached),
    command("sshpass", b'p', Either),
    command("login", b'p', Separate),
    command("mongo", b'p', Either),
    command("mongosh", b'p', Either),
    command("mongodump", b'p', Either),
    command("mongorestore", b'p', Either),
    command("cypher-shell", b'p', Separate),
    command("redis-cli", b'a', Separate),
    command("sqlcmd", b'P', Either),
    command("zip", b'P', Separate),
    command("unzip", b'P', Either),
    command("mosquitto_pub", b'P', Separate),
    command("mosquitto_sub", b'P', Separate),
    command("ipmitool", b'P', Separate),
    command("ldapsearch", b'w', Separate),
    command("ldapmodify", b'w', Separate),
];

/// The distance before a flag in which its command is searched, in bytes. It is constant, so that many flags stay
/// linear.
const REACH: usize = 128;

pub(crate) fn uses(flag: u8) -> bool {
    matches!(flag, b'p' | b'P' | b'a' | b'w')
}

/// Returns the command of the flag at `at`, if the flag is its password.
pub(crate) fn before(scan: &Scanner<'_>, at: usize, flag: u8) -> Option<&'static Command> {
    let reach = &scan.bytes[scan.floor.max(at.saturating_sub(REACH))..at];
    let begin = reach.iter().rposition(|b| matches!(b, b'\n' | b';' | b'|' | b'&' | b'(')).map_or(0, |i| i + 1);
    reach[begin..]
        .split(|&b| !Class::Slug.holds(b))
        .filter(|word| word.len() > 1)
        .find_map(|word| COMMANDS.iter().find(|c| c.flag == flag && c.word.as_bytes() == word))
}
