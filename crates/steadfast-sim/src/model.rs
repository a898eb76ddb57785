//! The scripted model: plays one scenario to a real host, or several scenarios to parallel sessions.

mod anthropic;
mod cast;
mod http;
mod openai;
mod request;
mod stage;

use std::fs::File;
use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

pub use cast::Cast;
use http::Connection;
pub use request::{Request, Track};
use stage::Stage;

/// Listens on a free loopback port until it is dropped.
#[derive(Debug)]
pub struct ScriptedModel {
    address: SocketAddr,
    stage: Arc<Stage>,
    closing: Arc<AtomicBool>,
    listener: Option<JoinHandle<()>>,
}

impl ScriptedModel {
    pub fn start(cast: impl Into<Cast>) -> io::Result<Self> {
        Self::serve(Stage::new(cast.into(), None))
    }

    /// Like [`ScriptedModel::start`], and appends every request to `file`, one JSON object per line.
    pub fn start_recording(cast: impl Into<Cast>, file: &Path) -> io::Result<Self> {
        let record = File::options().create(true).append(true).open(file)?;
        Self::serve(Stage::new(cast.into(), Some(record)))
    }

    fn serve(stage: Stage) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let stage = Arc::new(stage);
        let closing = Arc::new(AtomicBool::new(false));
        let thread = {
            let (stage, closing) = (Arc::clone(&stage), Arc::clone(&closing));
            std::thread::Builder::new()
                .name("scripted-model".to_owned())
                .spawn(move || accept(&listener, &stage, &closing))?
        };
        Ok(Self { address, stage, closing, listener: Some(thread) })
    }

    #[must_use]
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Returns `http://127.0.0.1:PORT`: `ANTHROPIC_BASE_URL` for Claude Code. Codex requires `/v1` after it.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns all requests so far, in order of arrival.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        self.stage.requests()
    }

    /// Returns the words of the main thread's newest request. Empty before the first.
    #[must_use]
    pub fn last_request_text(&self) -> String {
        self.requests().iter().rev().find(|request| request.track == Track::Main).map(Request::text).unwrap_or_default()
    }
}

impl Drop for ScriptedModel {
    fn drop(&mut self) {
        self.closing.store(true, Ordering::SeqCst);
        // Wakes the listener from `accept`. It then closes its connections and ends their threads.
        let woken = TcpStream::connect(self.address).is_ok();
        // If this connection fails, no other connection exists. The listener ends with the process.
        if let Some(listener) = self.listener.take().filter(|_| woken) {
            drop(listener.join());
        }
    }
}

fn accept(listener: &TcpListener, stage: &Arc<Stage>, closing: &AtomicBool) {
    let mut guests: Vec<(JoinHandle<()>, TcpStream)> = Vec::new();
    for stream in listener.incoming() {
        if closing.load(Ordering::SeqCst) {
            break;
        }
        guests.retain(|(thread, _)| !thread.is_finished());
        let Ok(stream) = stream else { continue };
        let Ok(handle) = stream.try_clone() else {
            continue;
        };
        let stage = Arc::clone(stage);
        let serve = move || {
            // A host may close the connection in the middle of a request.
            drop(converse(&stream, &stage));
            // The listener also holds a handle, so dropping ours would not end the connection.
            drop(stream.shutdown(Shutdown::Both));
        };
        if let Ok(thread) = std::thread::Builder::new().spawn(serve) {
            guests.push((thread, handle));
        }
    }
    for (thread, stream) in guests {
        drop(stream.shutdown(Shutdown::Both));
        drop(thread.join());
    }
}

fn converse(stream: &TcpStream, stage: &Stage) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut connection = Connection::new(stream.try_clone()?)?;
    while let Some(incoming) = connection.read()? {
        let head = incoming.method == "HEAD";
        let outgoing = stage.answer(incoming);
        if head {
            connection.write_empty()?;
        } else {
            connection.write(&outgoing)?;
        }
    }
    Ok(())
}
