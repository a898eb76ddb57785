use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use steadfast_hosts::{Around, decode, encode};
use steadfast_model::{Event, EventName, Millis, SessionId};
use steadfast_store::{ConfigFiles, Place, SessionFiles};

use crate::call::Call;
use crate::fallback::fallback;
use crate::privacy;
use crate::step::step;

/// However long something takes, the host has its answer by then.
const BOUND: Duration = Duration::from_millis(950);

/// A payload longer than this is not read to its end.
const PAYLOAD: u64 = 64 << 20;

/// What the process around a hook says of itself.
#[derive(Clone, Debug)]
pub struct Surroundings {
    pub now: Millis,
    pub cwd: PathBuf,
    /// The checkout a session was started in, as the host's environment names it.
    pub project: Option<PathBuf>,
    pub session: Option<SessionId>,
    pub attended: Option<bool>,
    pub user_state: Option<PathBuf>,
    pub user_config: Option<PathBuf>,
}

impl Surroundings {
    /// Where to look for a place: where the event happened, where the hook was started, where the session began.
    pub(crate) fn directories<'a>(&'a self, cwd: &'a Path) -> impl Iterator<Item = &'a Path> {
        [Some(cwd), Some(self.cwd.as_path()), self.project.as_deref()].into_iter().flatten()
    }
}

/// The answer to one event: what goes to standard output, or nothing.
///
/// The work is done on a thread of its own, so that a host that never closes its pipe, a file system that hangs and a
/// panic all end here.
pub fn answer(call: &Call, around: Surroundings, mut stdin: impl Read + Send + 'static) -> Option<String> {
    std::panic::set_hook(Box::new(|_| {}));
    let (sender, receiver) = sync_channel(1);
    let worker = {
        let (call, around) = (call.clone(), around.clone());
        let work = move || {
            let mut payload = Vec::with_capacity(8 << 10);
            let said = match stdin.by_ref().take(PAYLOAD).read_to_end(&mut payload) {
                Ok(_) => judge(&call, &around, &payload),
                Err(error) => Err(format!("cannot read the payload: {error}")),
            };
            // Nobody listens any more when the time is up.
            let _ = sender.send(said);
        };
        thread::Builder::new().name("hook".into()).spawn(work)
    };
    let why = match receiver.recv_timeout(BOUND) {
        Ok(Ok(said)) => return said,
        Ok(Err(why)) => why,
        Err(RecvTimeoutError::Timeout) => format!("no answer within {} ms", BOUND.as_millis()),
        Err(RecvTimeoutError::Disconnected) => match worker.map(thread::JoinHandle::join) {
            Ok(Err(panic)) => format!("panicked: {}", message(&*panic)),
            Ok(Ok(())) => "ended without an answer".to_owned(),
            Err(error) => format!("cannot start a thread: {error}"),
        },
    };
    fallback(call, &around, &why)
}

fn judge(call: &Call, around: &Surroundings, payload: &[u8]) -> Result<Option<String>, String> {
    let outside = Around {
        at: around.now,
        cwd: around.cwd.to_string_lossy().into_owned(),
        session: around.session.clone(),
        attended: around.attended,
    };
    let mut event = decode(call.host, call.via, &call.event, payload, &outside).map_err(|error| error.to_string())?;
    // Hooks in the user's own settings are called everywhere; they act only where `init` left state.
    let Some(place) = home_of(&event, around) else { return Ok(None) };
    privacy::redact(&mut event);
    let config = ConfigFiles::of(&place, around.user_config.as_deref());
    let name = EventName::parse(&call.event).ok_or("an event without a name")?;
    let answer = step(&place, &config, event).map_err(|error| error.to_string())?;
    Ok(encode(call.host, name, &answer))
}

/// Where a session is kept. It may wander (`cd` into another repository, out of all of them) and stays what it was: a
/// place that knows it comes before one that does not.
fn home_of(event: &Event, around: &Surroundings) -> Option<Place> {
    let mut first = None;
    for directory in around.directories(event.cwd.as_ref()) {
        let Some(place) = Place::find(directory, around.user_state.as_deref()) else { continue };
        if SessionFiles::of(&place, &event.session).dir().is_dir() {
            return Some(place);
        }
        first.get_or_insert(place);
    }
    first
}

fn message(panic: &(dyn std::any::Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}
