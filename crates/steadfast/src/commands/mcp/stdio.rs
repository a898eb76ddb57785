//! Standard input and output as the SDK wants to have them.
//!
//! The SDK's own transport passes over what it cannot read without a word, loses the last line if it has no end, answers
//! a request of the wrong shape without its id, and does not notice that nobody reads its answers.

use std::io::{self, BufRead, Write, stdin, stdout};
use std::thread;

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::task::{JoinHandle, spawn_blocking};

use super::line::{LIMIT, Line, next_line};
use super::message::{self, Read};

/// How many messages wait in each direction. A host that does not read is not read from either.
const WAITING: usize = 64;

#[derive(Debug)]
pub(super) struct Stdio {
    input: Receiver<Read>,
    output: Sender<ServerJsonRpcMessage>,
}

impl Stdio {
    /// Also what ends when everything is written, which it is once this was dropped.
    pub(super) fn open() -> io::Result<(Self, JoinHandle<()>)> {
        let (read, input) = mpsc::channel(WAITING);
        let (output, to_write) = mpsc::channel(WAITING);
        // A thread that the runtime does not know: it cannot be woken from a read, and is not waited for.
        thread::Builder::new().name("input".to_owned()).spawn(move || {
            if let Err(error) = read_all(&mut stdin().lock(), &read) {
                let hint = "a host starts this server and writes to it; `steadfast task` is for people";
                crate::output::note!("error: cannot read standard input: {error}\n\nhint: {hint}");
            }
        })?;
        let written = spawn_blocking(move || write_all(&mut stdout().lock(), to_write));
        Ok((Self { input, output }, written))
    }
}

fn read_all(input: &mut impl BufRead, read: &Sender<Read>) -> io::Result<()> {
    loop {
        let said = match next_line(input)? {
            Line::Whole(text) => message::read(&text),
            Line::TooLong => vec![Err(message::refuse(format!("a message is at most {LIMIT} bytes long")))],
            Line::End => return Ok(()),
        };
        for message in said {
            if read.blocking_send(message).is_err() {
                return Ok(());
            }
        }
    }
}

/// Ends early if nobody listens any more; then the channel is closed, and the server ends.
fn write_all(output: &mut impl Write, mut to_write: Receiver<ServerJsonRpcMessage>) {
    while let Some(message) = to_write.blocking_recv() {
        let written = serde_json::to_vec(&message).map_err(io::Error::from).and_then(|mut line| {
            line.push(b'\n');
            output.write_all(&line)?;
            output.flush()
        });
        if written.is_err() {
            return;
        }
    }
}

impl Transport<RoleServer> for Stdio {
    type Error = io::Error;

    fn send(&mut self, message: ServerJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let output = self.output.clone();
        async move { output.send(message).await.map_err(|_| io::ErrorKind::BrokenPipe.into()) }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            // This may be dropped wherever it waits, and what it had taken by then is lost: so there is room for a
            // refusal before it takes what is to be refused.
            let room = self.output.reserve().await.ok()?;
            let read = tokio::select! {
                read = self.input.recv() => read?,
                () = self.output.closed() => return None,
            };
            match read {
                Ok(message) => return Some(message),
                Err(refusal) => room.send(ServerJsonRpcMessage::Error(refusal)),
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}
