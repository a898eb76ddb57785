//! Measures the time for reading transcripts, beside a lower bound.
//!
//! `cargo xtask bench transcript` runs it with a folder of transcripts and the binary. All rows run in turn, so that
//! other load affects all of them; the table shows medians.
#![expect(clippy::unwrap_used, reason = "a measurement that cannot be made is none")]
#![expect(clippy::disallowed_methods, reason = "other readers' time is what we compare with")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the table is the result")]

use std::fs::{self, OpenOptions};
use std::hint::black_box;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use steadfast_hosts::transcript::{Stats, Transcript, TranscriptCursor, TranscriptTail, Writer, decodes};

/// The number of rounds for quick rows, and for rows that start a program over the whole folder.
const ROUNDS: u32 = 30;
const SLOW_ROUNDS: u32 = 3;

const SMALL: usize = 1 << 20;
const LARGE: usize = 100 << 20;

const COUNT_IN_PYTHON: &str = r#"
import json, sys
calls, usage = 0, {}
for path in sys.argv[1:]:
    for line in open(path, 'rb'):
        try: row = json.loads(line)
        except ValueError: continue
        message = row.get('message') if isinstance(row, dict) else None
        if not isinstance(message, dict): continue
        if message.get('usage'): usage[message.get('id')] = message['usage']
        content = message.get('content')
        if isinstance(content, list): calls += sum(1 for b in content if isinstance(b, dict) and b.get('type') == 'tool_use')
print(calls)
"#;

const COUNT_IN_JQ: &str = "reduce (inputs | fromjson? | objects | .message? | objects | .content? | arrays | .[] | objects | \
                           select(.type == \"tool_use\")) as $x (0; . + 1)";

struct Row<'a> {
    name: &'static str,
    run: Box<dyn FnMut() + 'a>,
    rounds: u32,
    times: Vec<Duration>,
}

impl<'a> Row<'a> {
    fn new(name: &'static str, rounds: u32, run: impl FnMut() + 'a) -> Self {
        Self { name, run: Box::new(run), rounds, times: Vec::new() }
    }

    fn median(&mut self) -> Duration {
        self.times.sort();
        self.times[self.times.len() / 2]
    }
}

fn main() {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let (folder, binary) = (arguments.next().unwrap(), arguments.next().unwrap());
    let mut files = Vec::new();
    find(&folder, &mut files);
    files.sort();
    let read: Vec<(Writer, Vec<u8>)> = files
        .iter()
        .filter_map(|file| Some((Transcript::open(file).unwrap().writer()?, fs::read(file).unwrap())))
        .filter(|(writer, _)| writer.host().is_some())
        .collect();
    let bytes: usize = read.iter().map(|(_, bytes)| bytes.len()).sum();
    let ours: Vec<&PathBuf> = files
        .iter()
        .filter(|file| Transcript::open(file).unwrap().writer().is_some_and(|w| w.host().is_some()))
        .collect();

    let stats = || ours.iter().for_each(|file| drop(black_box(Stats::of(Transcript::open(file).unwrap()))));
    let decode = || {
        for (writer, bytes) in &read {
            for line in memchr_lines(bytes) {
                black_box(decodes(*writer, line));
            }
        }
    };
    let backtest = |cores: &[&str]| {
        let words: Vec<&str> = cores.iter().copied().chain([binary.to_str().unwrap(), "backtest", "--json"]).collect();
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).arg(&folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        move || assert!(command.status().unwrap().success())
    };
    let growing = tempfile::tempdir().unwrap();
    let (mut small, mut large) = (Growing::new(growing.path(), SMALL), Growing::new(growing.path(), LARGE));

    let mut rows = vec![
        Row::new("decode into the same structs, and drop them", ROUNDS, decode),
        Row::new("stats", ROUNDS, stats),
        Row::new("backtest, on one core", SLOW_ROUNDS * 3, backtest(&["taskset", "-c", "0"])),
        Row::new("backtest", SLOW_ROUNDS * 3, backtest(&[])),
        Row::new("an appended line, at 1 MB", ROUNDS * 10, || small.look()),
        Row::new("an appended line, at 100 MB", ROUNDS * 10, || large.look()),
    ];
    for (name, program, more) in [
        ("calls and usage counted in Python", python(), vec!["-c", COUNT_IN_PYTHON]),
        ("calls counted in jq", "jq", vec!["-nR", COUNT_IN_JQ]),
    ] {
        if Command::new(program).arg("--version").stdout(Stdio::null()).status().is_ok() {
            rows.push(Row::new(name, SLOW_ROUNDS, over(program, &more, &ours)));
        } else {
            eprintln!("SKIPPED: `{program}` is not here");
        }
    }
    for round in 0..ROUNDS * 10 {
        for row in rows.iter_mut().filter(|row| round < row.rounds) {
            let started = Instant::now();
            (row.run)();
            row.times.push(started.elapsed());
        }
    }

    println!("{} sessions, {} MB; medians, interleaved\n", read.len(), bytes >> 20);
    println!("| what runs | ms | least | MB/s | of decoding |");
    println!("|---|---:|---:|---:|---:|");
    let mut floor = None;
    for row in &mut rows {
        let median = row.median().as_secs_f64();
        let least = row.times[0].as_secs_f64() * 1e3;
        if row.name.starts_with("an appended") {
            println!("| {} | {:.3} | {least:.3} | | |", row.name, median * 1e3);
            continue;
        }
        let speed = bytes as f64 / 1e6 / median;
        let share = speed / *floor.get_or_insert(speed);
        println!("| {} | {:.0} | {least:.0} | {speed:.0} | {:.0} % |", row.name, median * 1e3, share * 100.0);
    }
}

/// Starts a program over all files.
fn over(program: &str, more: &[&str], files: &[&PathBuf]) -> impl FnMut() + use<> {
    let mut command = Command::new(program);
    command.args(more).args(files).stdin(Stdio::null()).stdout(Stdio::null());
    move || assert!(command.status().unwrap().success())
}

/// Returns the system's Python. A version manager would take longer than Python itself.
fn python() -> &'static str {
    if Path::new("/usr/bin/python3").exists() { "/usr/bin/python3" } else { "python3" }
}

fn memchr_lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut from = 0;
    memchr::memchr_iter(b'\n', bytes).chain([bytes.len()]).filter_map(move |to| {
        let line = bytes[std::mem::replace(&mut from, to + 1).min(to)..to].trim_ascii();
        (!line.is_empty()).then_some(line)
    })
}

fn find(folder: &Path, files: &mut Vec<PathBuf>) {
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            find(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "jsonl") {
            files.push(path);
        }
    }
}

/// A growing session that is read after every line.
struct Growing {
    path: PathBuf,
    cursor: TranscriptCursor,
    number: u32,
}

impl Growing {
    fn new(folder: &Path, size: usize) -> Self {
        let path = folder.join(format!("{size}.jsonl"));
        let mut file = fs::File::create(&path).unwrap();
        let mut written = 0;
        for number in 0.. {
            let row = row(number);
            written += row.len();
            file.write_all(row.as_bytes()).unwrap();
            if written >= size {
                break;
            }
        }
        let mut tail = TranscriptTail::open(&path, None).unwrap();
        while tail.next().is_some() {}
        Self { path, cursor: tail.cursor(), number: 1_000_000_000 }
    }

    fn look(&mut self) {
        self.number += 1;
        OpenOptions::new().append(true).open(&self.path).unwrap().write_all(row(self.number).as_bytes()).unwrap();
        let mut tail = TranscriptTail::open(&self.path, Some(&self.cursor)).unwrap();
        let mut seen = 0;
        while tail.next().is_some() {
            seen += 1;
        }
        assert_eq!(seen, 1, "the one line that was added");
        self.cursor = tail.cursor();
    }
}

/// Returns a row of about one kilobyte, the usual size of a call.
fn row(number: u32) -> String {
    let padding = "x ".repeat(300);
    format!(
        "{{\"type\":\"assistant\",\"uuid\":\"{number}\",\"sessionId\":\"s-1\",\"cwd\":\"/repo\",\
         \"timestamp\":\"2026-03-01T10:00:00.000Z\",\"message\":{{\"id\":\"m-{number}\",\"usage\":{{\"output_tokens\":7}},\
         \"content\":[{{\"type\":\"tool_use\",\"id\":\"c-{number}\",\"name\":\"Edit\",\
         \"input\":{{\"file_path\":\"/repo/a.rs\",\"old_string\":\"{padding}\"}}}}]}}}}\n"
    )
}
