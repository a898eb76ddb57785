//! Against what the real hosts do: `fixtures/senders` has the ancestors of every kind of process that each of them
//! starts, with their environments and their standard input, as the probe of an end-to-end run saw them.

use std::path::Path;

use serde_json::Value;
use steadfast_model::ForgedBy;

use super::lineage::{Care, Lineage, Noted, Processes, Ways};
use steadfast_system::ProcessEntry;

/// Codex, whose shells become the sender; with its sandbox and without.
const BECOMING: &str = "codex-0.166.0-becoming";

const VERSIONS: [&str; 3] = ["claude-2.1.325", "claude-2.1.197", "codex-0.166.0"];

/// A process of a recorded table.
#[derive(Clone, Debug)]
struct Row {
    process: ProcessEntry,
    environment: Vec<String>,
    streams: [String; 3],
    /// The pipes among its files, of a host whose files were listed.
    holds: Option<Vec<String>>,
    confined: bool,
}

/// A sender and its ancestors.
#[derive(Clone, Debug)]
struct Recorded {
    sender: String,
    mode: String,
    peer: Option<u32>,
    rows: Vec<Row>,
}

impl Processes for Recorded {
    fn look(&self, id: u32) -> Option<ProcessEntry> {
        self.find(id).map(|row| row.process.clone())
    }

    fn environment(&self, id: u32) -> Option<Vec<String>> {
        self.find(id).map(|row| row.environment.clone())
    }

    fn stream(&self, id: u32, number: u8) -> Option<String> {
        self.find(id).map(|row| row.streams[usize::from(number)].clone())
    }

    fn holds(&self, id: u32, pipe: &str) -> Option<bool> {
        self.find(id)?.holds.as_ref().map(|pipes| pipes.iter().any(|one| one == pipe))
    }

    fn is_confined(&self, id: u32) -> bool {
        self.find(id).is_some_and(|row| row.confined)
    }
}

impl Recorded {
    fn find(&self, id: u32) -> Option<&Row> {
        self.rows.iter().find(|row| row.process.id == id)
    }

    fn lineage(&self) -> Lineage<'_, Self> {
        Lineage::of(self, self.rows[0].process.id, self.peer)
    }

    fn host(&self) -> Option<&ProcessEntry> {
        self.rows.last().map(|row| &row.process).filter(|process| ["claude", "codex"].contains(&process.name.as_str()))
    }

    fn is_hook(&self) -> bool {
        self.sender.starts_with("hook-")
    }

    /// Another process took the place of its parent: that one is gone.
    fn adopted(mut self) -> Self {
        self.rows.truncate(1);
        self.rows[0].process.parent = 1;
        self
    }
}

fn number(value: &Value) -> u32 {
    u32::try_from(value.as_u64().unwrap()).unwrap()
}

fn recorded(version: &str) -> Vec<Recorded> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/senders").join(version).with_extension("jsonl");
    let path = path.with_file_name(format!("{version}.jsonl"));
    let text = std::fs::read_to_string(path).unwrap();
    let row = |link: &Value| Row {
        process: ProcessEntry {
            id: number(&link["id"]),
            name: link["name"].as_str().unwrap().to_owned(),
            parent: number(&link["parent"]),
            started: link["started"].as_u64().unwrap(),
            session: number(&link["session"]),
            group: 0,
            has_terminal: false,
            ended: false,
        },
        environment: link["environment"].as_array().unwrap().iter().map(|e| e.as_str().unwrap().to_owned()).collect(),
        streams: ["input", "output", "error"].map(|name| link[name].as_str().unwrap_or_default().to_owned()),
        holds: link["holds"].as_array().map(|all| all.iter().map(|pipe| pipe.as_str().unwrap().to_owned()).collect()),
        confined: link["confined"].as_bool().unwrap_or_default(),
    };
    let sender = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        Recorded {
            sender: line["sender"].as_str().unwrap().to_owned(),
            mode: line["mode"].as_str().unwrap().to_owned(),
            peer: line["peer"].as_u64().map(|peer| u32::try_from(peer).unwrap()),
            rows: line["chain"].as_array().unwrap().iter().map(row).collect(),
        }
    };
    text.lines().map(sender).collect()
}

/// The host of a recording as the start of its session noted it.
fn noted(all: &[Recorded], mode: &str) -> (Option<bool>, Noted) {
    let start = all.iter().find(|one| one.mode == mode && one.sender.ends_with("SessionStart")).unwrap();
    let host = start.host().unwrap();
    let ways = start.lineage().ways();
    (Some(true), Noted { id: host.id, started: host.started, numbering: "pid:[1]".into(), ways })
}

fn nowhere(_: &ProcessEntry) -> Option<Noted> {
    None
}

#[test]
fn every_hook_of_every_host_counts_and_nothing_else_does() {
    for version in VERSIONS {
        let all = recorded(version);
        let senders: Vec<&str> = all.iter().map(|one| one.sender.as_str()).collect();
        for kind in ["bash", "bash-env-i", "bash-setsid", "bash-adopted", "mcp", "mcp-child"] {
            assert!(senders.contains(&kind), "{version} has no {kind}");
        }
        for one in &all {
            let forged = one.lineage().forged(&[noted(&all, &one.mode)], nowhere);
            assert_eq!(forged.is_none(), one.is_hook(), "{version} {} {}: {forged:?}", one.mode, one.sender);
        }
    }
}

#[test]
fn what_is_noted_of_a_host_is_how_it_starts_its_hooks() {
    for version in VERSIONS {
        let all = recorded(version);
        let Ways { by_socket, leads, inherits, .. } = noted(&all, "print").1.ways;
        assert!(all.iter().filter(|one| one.is_hook()).all(|one| one.lineage().is_hooks()), "{version}");
        assert_eq!((by_socket, leads, inherits), (version.starts_with("claude"), true, true), "{version}");
    }
}

/// A shell of a tool call that becomes the sender, with a hook's environment and pipes of its own.
#[test]
fn a_tools_shell_that_becomes_the_sender_is_told_by_its_pipes() {
    let all = recorded(BECOMING);
    for one in &all {
        let (host, forged) = (noted(&all, &one.mode), |care| {
            one.lineage().with(care).forged(&[noted(&all, &one.mode)], nowhere).is_some()
        });
        assert!(host.1.ways.together, "a hook's pipes are made together");
        let scene = format!("{} {}", one.mode, one.sender);
        assert_eq!(forged(Care::BothEnds), !one.is_hook(), "{scene}");
        // Without the files of the host, who makes an output of its own shortly after its input is not told apart.
        let makes_both = ["bash-exec-own-pipes", "bash-exec-three-pipes"].contains(&one.sender.as_str());
        let is_hidden = one.mode == "full-access" && makes_both;
        assert_eq!(forged(Care::Pipes), !one.is_hook() && !is_hidden, "{scene}");
    }
    let senders: Vec<&str> = all.iter().map(|one| one.sender.as_str()).collect();
    for kind in ["bash-exec-pipe", "bash-exec-three-pipes", "bash-exec-terminal", "bash-exec-own-pipes"] {
        assert!(senders.contains(&kind), "{kind}");
    }
}

/// Where the sandbox has no process table of its own, what it takes away for good is still seen.
#[test]
fn a_sandbox_that_the_host_is_not_in_is_a_tools() {
    let all = recorded(BECOMING);
    let noted = noted(&all, "full-access");
    let mut hook = all.into_iter().find(|one| one.mode == "full-access" && one.is_hook()).unwrap();
    hook.rows[0].confined = true;
    assert_eq!(hook.lineage().forged(std::slice::from_ref(&noted), nowhere), Some(ForgedBy::ToolCall));
    hook.rows.last_mut().unwrap().confined = true;
    assert_eq!(hook.lineage().forged(&[noted], nowhere), None, "the host itself is in one");
}

#[test]
fn the_last_number_of_a_lot_is_followed_by_the_first_of_another() {
    let all = recorded(BECOMING);
    let noted = noted(&all, "full-access");
    let mut hook = all.into_iter().find(|one| one.mode == "full-access" && one.is_hook()).unwrap();
    for (input, output, is_forged) in
        [(7, 8, false), (7, 9, false), (7, 24, true), (8, 7, true), (7, 7, true), (1020, 1026, true)]
            .into_iter()
            .chain([(2048, 9217, false), (2048, 9218, true)])
    {
        hook.rows[0].streams = [input, output, output + 1].map(|number| format!("pipe:[{number}]"));
        let forged = hook.lineage().with(Care::Pipes).forged(std::slice::from_ref(&noted), nowhere);
        assert_eq!(forged.is_some(), is_forged, "{input} {output}");
    }
}

#[test]
fn with_no_host_noted_and_none_above_everything_counts() {
    for one in VERSIONS.into_iter().flat_map(recorded) {
        let one = one.adopted();
        assert_eq!(one.lineage().forged(&[], nowhere), None, "{}", one.sender);
    }
}

#[test]
fn who_was_adopted_is_a_stranger_while_the_host_lives_and_nobody_after() {
    for version in VERSIONS {
        let all = recorded(version);
        let (_, host) = noted(&all, "print");
        for one in all.iter().cloned().map(Recorded::adopted) {
            let forged = |alive| one.lineage().forged(&[(alive, host.clone())], nowhere);
            assert_eq!(forged(Some(true)), Some(ForgedBy::Stranger), "{}", one.sender);
            // In a container of its own the host is not to be seen.
            assert_eq!(forged(None), Some(ForgedBy::Stranger), "{}", one.sender);
            assert_eq!(forged(Some(false)), None, "{}", one.sender);
        }
    }
}

#[test]
fn a_second_window_counts_and_one_that_a_tool_call_opened_does_not() {
    for version in VERSIONS {
        let all = recorded(version);
        let (_, other) = noted(&all, "print");
        let other = Noted { id: 7, started: 7, ..other };
        let mut window = all.iter().find(|one| one.sender.ends_with("SessionStart")).unwrap().clone();
        assert_eq!(window.lineage().forged(&[(Some(true), other.clone())], nowhere), None, "{version}");
        // The same below another host.
        let top = window.rows.last().unwrap().clone();
        let mut outer = top.clone();
        (outer.process.id, outer.process.parent) = (top.process.parent, 1);
        window.rows.push(outer);
        let inside = window.lineage().forged(&[(Some(true), other.clone())], nowhere);
        assert_eq!(inside, Some(ForgedBy::ToolCall), "{version}");
        // In a session of its own it is a host like any other.
        let host = window.lineage().host().cloned().unwrap();
        let own = Noted { id: host.id, started: host.started, ..other.clone() };
        assert_eq!(window.lineage().forged(&[(Some(true), own)], nowhere), None, "{version}");
    }
}

#[test]
fn a_human_sits_before_a_host_that_no_agent_started() {
    for version in VERSIONS {
        let hook = recorded(version).into_iter().find(Recorded::is_hook).unwrap();
        let may_be = |one: &Recorded, is_at_work: bool| one.lineage().may_be_attended(|| is_at_work);
        assert!(may_be(&hook, true), "{version}");
        // With no host above there is nobody, where a host is at work; else nothing is known.
        let adopted = hook.clone().adopted();
        assert_eq!((may_be(&adopted, true), may_be(&adopted, false)), (false, true), "{version}");
        // A terminal that an agent opened is still the agent's.
        for mark in ["AI_AGENT=claude-code_2-1-325_agent", "CODEX_THREAD_ID=1"] {
            let mut inside = hook.clone();
            inside.rows.last_mut().unwrap().environment.push(mark.to_owned());
            assert!(!may_be(&inside, true), "{version} {mark}");
        }
    }
}

#[test]
fn a_tools_child_that_makes_a_session_up_is_known_by_its_host() {
    for version in VERSIONS {
        let all = recorded(version);
        let (_, host) = noted(&all, "print");
        let bash = all.iter().find(|one| one.sender == "bash" && one.mode == "print").unwrap();
        let elsewhere = |above: &ProcessEntry| (above.id == host.id).then(|| host.clone());
        assert_eq!(bash.lineage().forged(&[], elsewhere), Some(ForgedBy::ToolCall), "{version}");
        // A repository in which that host has no session is none of its business, and does not become it.
        assert!(!bash.lineage().is_hooks(), "{version}");
        assert_eq!(bash.lineage().forged(&[], nowhere), None, "{version}");
    }
}

#[test]
fn a_note_is_read_as_it_was_written() {
    for ways in [Ways::default(), Ways { by_socket: true, leads: true, inherits: true, together: true }] {
        let noted = Noted { id: 1, started: 2, numbering: "pid:[3]".into(), ways };
        assert_eq!(Noted::parse(&noted.to_string()), Some(noted));
    }
    assert_eq!(Noted::parse("1 2"), None);
}
