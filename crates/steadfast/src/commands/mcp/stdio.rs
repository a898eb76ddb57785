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

/// Limit of waiting messages in each direction. If the host does not read, the server stops reading, too.
const WAITING: usize = 64;

/// Limit of tool calls at the same time. They share one ledger, and wait up to 250 ms for its lock: of 300 calls that added
/// a task at once, 135 timed out.
const PARALLEL_CALLS: usize = 16;

/// Serves until the host closes its output and every request is answered, or until the host closes its input.
///
/// Calls that still run then are abandoned. This is safe, because their writes are atomic.
pub(super) fn serve() -> io::Result<()> {
    let (answers, to_write) = sync_channel(WAITING);
    let (calls, to_run) = sync_channel(WAITING);
    let to_run = Arc::new(Mutex::new(to_run));
    for _ in 0..PARALLEL_CALLS {
        let (to_run, answers) = (Arc::clone(&to_run), answers.clone());
        thread::Builder::new().name("call".to_owned()).spawn(move || run_calls(&to_run, &answers))?;
    }
    thread::Builder::new().name("input".to_owned()).spawn(move || {
        if let Err(error) = read_all(&mut stdin().lock(), &calls, &answers) {
            let hint = "only a host starts this server; people use `steadfast task`";
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
                let error = RpcError::invalid_request(format!("the message is longer than {LIMIT} bytes"));
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
