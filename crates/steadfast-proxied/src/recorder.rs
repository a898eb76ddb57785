//! Stores the exchanges of an agent with its model in a file: one JSON object per line, in the order of their ends.
//! [`RecordedSessions`](crate::RecordedSessions) reads it.
//!
//! A thread of its own removes the secrets and writes, so that no exchange waits.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use steadfast_model::Millis;
use steadfast_proxy::wire::{ModelAnswer, WireCall, WireFormat, read_answer};
use steadfast_proxy::{AnswerCopy, ExchangeCopy, ExchangeSink};
use steadfast_redact::{contains_secret, redact, redact_json};
use steadfast_text::{count, grouped};

/// The key of the first line, with the version of the format.
pub(crate) const MARK: &str = "steadfast_recording";

/// The longest recording.
const FILE_LIMIT: u64 = 512 << 20;

/// The most bytes of copies that wait to be written. Memory must not grow without end where the disk is slow.
const WAITING_LIMIT: usize = 128 << 20;

/// A text of this length may have been cut by the reader of the format.
const CUT_LENGTH: usize = 255 << 10;

/// The text in the place of a credential.
const REMOVED: &str = "[redacted:credential]";

#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    #[error("`{}` exists", .0.display())]
    Exists(PathBuf),
    #[error("cannot create `{}`: {source}", path.display())]
    Create { path: PathBuf, source: io::Error },
}

/// Writes a recording.
#[derive(Debug)]
pub struct ExchangeRecorder {
    path: PathBuf,
    copies: Mutex<Option<Sender<ExchangeCopy>>>,
    waiting: Arc<AtomicUsize>,
    left_out: AtomicUsize,
    writer: Mutex<Option<JoinHandle<Written>>>,
}

/// The progress of the writer.
#[derive(Debug, Default)]
struct Written {
    exchanges: u64,
    bytes: u64,
    /// Why it ended early.
    problem: Option<String>,
}

impl ExchangeRecorder {
    /// Creates the file. `folder`: where the agent works.
    pub fn create(path: &Path, folder: &Path, now: Millis) -> Result<Arc<Self>, RecordError> {
        let created = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
        let mut file = created.map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => RecordError::Exists(path.to_owned()),
            _ => RecordError::Create { path: path.to_owned(), source },
        })?;
        let head = json!({ MARK: 1, "at": now, "folder": folder.to_string_lossy() });
        let head = format!("{head}\n");
        let failed = |source| RecordError::Create { path: path.to_owned(), source };
        file.write_all(head.as_bytes()).map_err(failed)?;
        let written = Written { bytes: head.len() as u64, ..Written::default() };
        Self::start(path, file, written, now).map_err(failed)
    }

    fn start(path: &Path, file: File, written: Written, now: Millis) -> io::Result<Arc<Self>> {
        let clock = Clock { began: Instant::now(), at: now };
        let (copies, received) = channel();
        let waiting = Arc::new(AtomicUsize::new(0));
        let taken = Arc::clone(&waiting);
        let writer = thread::Builder::new().name("recorder".to_owned());
        let writer = writer.spawn(move || write(file, written, &received, &taken, clock))?;
        Ok(Arc::new(Self {
            path: path.to_owned(),
            copies: Mutex::new(Some(copies)),
            waiting,
            left_out: AtomicUsize::new(0),
            writer: Mutex::new(Some(writer)),
        }))
    }

    /// The same with another file.
    #[cfg(test)]
    pub(crate) fn with_file(&self, file: File) -> Arc<Self> {
        Self::start(&self.path, file, Written::default(), Millis(0)).unwrap()
    }

    /// Writes what still waits, and returns one line about the recording.
    pub fn finish(&self) -> String {
        drop(lock(&self.copies).take());
        let writer = lock(&self.writer).take();
        let written = writer.and_then(|writer| writer.join().ok()).unwrap_or_default();
        let Written { exchanges, bytes, problem } = written;
        let path = self.path.display();
        let exchanges = count(exchanges, "exchange");
        let mut line = match problem {
            None => format!("recorded {exchanges} in {path} ({} kB)", grouped(bytes.div_ceil(1_000))),
            Some(problem) => format!("warning: the recording {path} ends after {exchanges}: {problem}"),
        };
        let left_out = self.left_out.load(Ordering::Relaxed);
        if left_out > 0 {
            line.push_str(&format!("; {} left out, because the disk was too slow", count(left_out, "exchange")));
        }
        line
    }
}

impl ExchangeSink for ExchangeRecorder {
    fn take(&self, copy: ExchangeCopy) {
        let bytes = copy.bytes();
        if self.waiting.fetch_add(bytes, Ordering::Relaxed) > WAITING_LIMIT {
            self.waiting.fetch_sub(bytes, Ordering::Relaxed);
            self.left_out.fetch_add(1, Ordering::Relaxed);
        } else if lock(&self.copies).as_ref().is_none_or(|copies| copies.send(copy).is_err()) {
            // After an error there is no receiver.
            self.waiting.fetch_sub(bytes, Ordering::Relaxed);
        }
    }
}

fn lock<T>(shared: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn write(
    mut file: File,
    mut written: Written,
    copies: &Receiver<ExchangeCopy>,
    waiting: &AtomicUsize,
    clock: Clock,
) -> Written {
    // The search for secrets takes as long as an exchange, and the stream needs the processor first. Elsewhere than on Linux
    // the whole process would wait.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::setpriority_process(None, 19);
    for copy in copies {
        let line = format!("{}\n", line(&copy, clock));
        waiting.fetch_sub(copy.bytes(), Ordering::Relaxed);
        let room = FILE_LIMIT.saturating_sub(written.bytes);
        let problem = if line.len() as u64 > room {
            Some(format!("it reached its limit of {} MB", FILE_LIMIT >> 20))
        } else {
            file.write_all(line.as_bytes()).err().map(|error| error.to_string())
        };
        if problem.is_some() {
            // The part of a line that fitted is of no use.
            drop(file.set_len(written.bytes));
            written.problem = problem;
            return written;
        }
        written.exchanges += 1;
        written.bytes += line.len() as u64;
    }
    written
}

/// The time at which the recording began. A step of the system's clock must not change the order of the exchanges.
#[derive(Clone, Copy, Debug)]
struct Clock {
    began: Instant,
    at: Millis,
}

fn line(copy: &ExchangeCopy, clock: Clock) -> Value {
    let cleaner = Cleaner { secrets: &copy.secrets };
    let since = millis(copy.began.saturating_duration_since(clock.began));
    let format = copy.exchange.as_ref().map(|exchange| exchange.format);
    let exchange = copy.exchange.as_ref();
    let answer = format.zip(copy.answer.as_ref()).map(|(format, answer)| cleaner.answer(format, answer));
    let mut answer = answer.unwrap_or_default();
    answer.insert("headers".to_owned(), cleaner.headers(&copy.answer_headers));
    json!({
        "at": clock.at.0.saturating_add(since),
        "answered_ms": copy.answered.map(millis),
        "lasted_ms": millis(copy.lasted),
        "method": copy.method,
        "path": cleaner.text(&copy.path),
        "format": format.map(name),
        "session": exchange.and_then(|exchange| exchange.session.as_deref()).map(|session| cleaner.text(session)),
        "agent": exchange.and_then(|exchange| exchange.agent.as_deref()).map(|agent| cleaner.text(agent)),
        "request": {
            "headers": cleaner.headers(&copy.request_headers),
            "body": copy.request().and_then(|body| Some(cleaner.body(str::from_utf8(&body).ok()?))),
        },
        "status": copy.status,
        "answer": answer,
    })
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

pub(crate) fn name(format: WireFormat) -> &'static str {
    match format {
        WireFormat::Messages => "messages",
        WireFormat::Responses => "responses",
        WireFormat::Chat => "chat",
    }
}

/// Removes secrets: those that have the form of one, and the credentials of the exchange itself.
struct Cleaner<'a> {
    secrets: &'a [String],
}

impl Cleaner<'_> {
    fn text(&self, text: &str) -> String {
        redact(&self.without_credentials(text)).into_owned()
    }

    /// Cleans the strings of JSON, also of a stream of it.
    fn body(&self, body: &str) -> String {
        // The strings first, then values beside a telling name: `"password": "…"`.
        redact(&redact_json(&self.without_credentials(body))).into_owned()
    }

    fn without_credentials(&self, text: &str) -> String {
        let with = |text: String, secret: &String| {
            if text.contains(secret.as_str()) { text.replace(secret.as_str(), REMOVED) } else { text }
        };
        self.secrets.iter().fold(text.to_owned(), with)
    }

    fn has_secret(&self, text: &str) -> bool {
        contains_secret(text) || self.secrets.iter().any(|secret| text.contains(secret.as_str()))
    }

    fn headers(&self, headers: &[(String, String)]) -> Value {
        let clean = headers.iter().map(|(name, value)| (name.clone(), self.text(value).into()));
        Value::Object(clean.collect::<Map<String, Value>>())
    }

    fn answer(&self, format: WireFormat, copy: &AnswerCopy) -> Map<String, Value> {
        let body = copy.chunks.concat();
        let (answer, calls) = read_answer(format, copy.is_stream, body.clone().into());
        // A stream spells a text in pieces, and nobody finds a secret in them.
        let has_pieces = copy.is_stream && self.is_spelled(&answer, &calls);
        let text = String::from_utf8(body).ok().filter(|_| !has_pieces);
        let ModelAnswer { model, text: said, thinking, usage, stop, error, .. } = answer;
        let usage = usage.map(|usage| {
            json!({"input": usage.input, "cached": usage.cached, "written": usage.written, "output": usage.output})
        });
        let error = error.map(|error| json!({"kind": self.text(&error.kind), "message": self.text(&error.message)}));
        let calls: Vec<Value> = calls
            .into_iter()
            .map(|WireCall { id, tool, namespace, input, .. }| {
                let namespace = namespace.map(|namespace| self.text(&namespace));
                json!({"id": self.text(&id), "tool": self.text(&tool), "namespace": namespace, "input": self.body(&input)})
            })
            .collect();
        let answer = json!({
            "is_whole": copy.is_whole,
            "model": self.text(&model),
            "text": self.text(&said),
            "thinking": self.text(&thinking),
            "usage": usage,
            "stop": stop.map(|stop| self.text(&stop)),
            "error": error,
            "calls": calls,
            "body": text.map(|text| self.body(&text)),
            "left_out": has_pieces.then_some("a secret may stand in pieces"),
        });
        match answer {
            Value::Object(answer) => answer,
            _ => Map::new(),
        }
    }

    /// Returns whether the pieces of a stream may spell a secret.
    fn is_spelled(&self, answer: &ModelAnswer, calls: &[WireCall]) -> bool {
        let texts = [&answer.text, &answer.thinking];
        let is_cut = texts.iter().any(|text| text.len() > CUT_LENGTH) || calls.iter().any(|call| call.is_cut);
        let mut all = texts.into_iter().chain(calls.iter().map(|call| &call.input));
        is_cut || all.any(|text| self.has_secret(text) || redact_json(text) != *text)
    }
}

impl Drop for ExchangeRecorder {
    /// Without [`Self::finish`], the agent was never there. A recording of nothing would be in the way of the next one.
    fn drop(&mut self) {
        drop(lock(&self.copies).take());
        let written = lock(&self.writer).take().and_then(|writer| writer.join().ok());
        if written.is_some_and(|written| written.exchanges == 0) {
            drop(fs::remove_file(&self.path));
        }
    }
}
