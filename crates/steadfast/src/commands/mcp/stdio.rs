//! The server on standard input and output: a thread reads and answers, a pool of threads runs the tool calls, and the
//! calling thread writes.

use std::io::{self, BufRead, Write, stdin, stdout};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use serde_json::Value;
use steadfast_redact::redact_json;

use super::line::{LIMIT, Line, next_line};
use super::message::{Request, RpcError, answer, read};
use super::server::{handle, is_slow};

/// Limit of messages that wait in each direction. A host that does not read is not read from either.
const WAITING: usize = 64;

/// Tool calls that run at once. They share one ledger, and wait a quarter of a second for each other: of 300 that all
/// added a task at once, 135 did not get their turn in time.
const AT_WORK: usize = 16;

/// Serves until the host has closed its end and every request is answered, or until it does not read any more.
///
/// A call that is at work by then is abandoned. What it wrote is whole: it could have been killed too.
pub(super) fn serve() -> io::Result<()> {
    let (answers, to_write) = sync_channel(WAITING);
    let (calls, to_run) = sync_channel(WAITING);
    let to_run = Arc::new(Mutex::new(to_run));
    for _ in 0..AT_WORK {
        let (to_run, answers) = (Arc::clone(&to_run), answers.clone());
        thread::Builder::new().name("call".to_owned()).spawn(move || run_calls(&to_run, &answers))?;
    }
    thread::Builder::new().name("input".to_owned()).spawn(move || {
        if let Err(error) = read_all(&mut stdin().lock(), &calls, &answers) {
            let hint = "a host starts this server and writes to it; `steadfast task` is for people";
            crate::output::note!("error: cannot read standard input: {error}\n\nhint: {hint}");
        }
    })?;
    write_all(&mut stdout().lock(), &to_write);
    Ok(())
}

fn read_all(input: &mut impl BufRead, calls: &SyncSender<Request>, answers: &SyncSender<Value>) -> io::Result<()> {
    loop {
        let requests = match next_line(input)? {
            Line::Whole(text) => read(&text),
            Line::TooLong => {
                let error = RpcError::invalid_request(format!("a message is at most {LIMIT} bytes long"));
                vec![Err((Value::Null, error))]
            }
            Line::End => return Ok(()),
        };
        for request in requests {
            let sent = match request {
                Ok(request) if is_slow(&request) => calls.send(request).is_ok(),
                Ok(request) => answers.send(handled(request)).is_ok(),
                Err((id, error)) => answers.send(answer(id, Err(error))).is_ok(),
            };
            if !sent {
                return Ok(());
            }
        }
    }
}

/// Ends when the input has ended and no call is left.
fn run_calls(to_run: &Mutex<Receiver<Request>>, answers: &SyncSender<Value>) {
    loop {
        let next = to_run.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(request) = next else { return };
        if answers.send(handled(request)).is_err() {
            return;
        }
    }
}

fn handled(request: Request) -> Value {
    let (id, method) = (request.id.clone(), request.method.clone());
    let result = catch_unwind(AssertUnwindSafe(|| handle(request)))
        .unwrap_or_else(|_| Err(RpcError::internal_error(format!("`{method}` failed"))));
    answer(id, result)
}

/// Ends when all answers are written, or when the host has closed its end.
fn write_all(output: &mut impl Write, to_write: &Receiver<Value>) {
    for message in to_write {
        let written = writeln!(output, "{}", redact_json(&message.to_string())).and_then(|()| output.flush());
        if written.is_err() {
            return;
        }
    }
}
