use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use steadfast_engine::PolicyDecision;
use steadfast_hosts::install::Homes;
use steadfast_hosts::{WireError, decode, encode, transcript_path};
use steadfast_model::{
    Action, Answer, Effect, Event, EventKind, EventName, Facts, Host, Millis, Ruling, SessionId, ToolResult,
};
use steadfast_store::{ConfigFiles, Glance, Place, SessionFiles};

use crate::call::HookCall;
use crate::checkout::{EventError, HookContext, SessionCheckout};
use crate::fallback::fallback;
use crate::follow::Follow;
use crate::redacted::Redacted;
use crate::sender::Noted;
use crate::{host_list, process, sender, settings, speaker};

/// A payload longer than this is not read to its end.
const PAYLOAD: u64 = 64 << 20;

/// What the process around a hook says of itself.
#[derive(Clone, Debug)]
pub struct HookEnvironment {
    pub now: Millis,
    pub cwd: PathBuf,
    /// The checkout a session was started in, as the host's environment names it.
    pub project: Option<PathBuf>,
    pub session: Option<SessionId>,
    pub attended: Option<bool>,
    /// The process that made the socket on standard input, where it is one.
    pub peer: Option<u32>,
    /// A host other than the one we are wired into, as the environment names it.
    pub other_host: Option<&'static str>,
    pub user_state: Option<PathBuf>,
    pub user_config: Option<PathBuf>,
    /// The file that is there once the run which started this session has spent its budget. Sessions of nobody's run have
    /// none, and nothing is looked at for them.
    pub run_spent: Option<PathBuf>,
    /// Where the hosts keep the user's settings. Asked for once in the life of a checkout: nobody else reads that much of
    /// the environment.
    pub homes: fn() -> Option<Homes>,
    /// The paths by which this program is installed. Asked for where a call names it.
    pub programs: fn() -> Vec<PathBuf>,
    /// Who asks the list that tasks are kept in elsewhere, where the settings name one.
    pub follow: Follow,
    /// Which of its lists of tasks the host uses, as its environment names it. Asked for where a followed list is looked
    /// at, and nowhere else.
    pub task_list: fn() -> Option<String>,
}

impl HookEnvironment {
    fn of_checkout(&self) -> HookContext<'_> {
        let Self { homes, follow, programs, .. } = *self;
        HookContext { run_spent: self.run_spent.as_deref(), homes, follow, programs }
    }

    /// Where to look for a place: where the event happened, where the hook was started, where the session began.
    pub(crate) fn directories<'a>(&'a self, cwd: &'a Path) -> impl Iterator<Item = &'a Path> {
        [Some(cwd), Some(self.cwd.as_path()), self.project.as_deref()].into_iter().flatten()
    }
}

/// What came of one event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HookAnswer {
    /// What goes to standard output, or nothing.
    pub said: Option<String>,
    /// What is begun in the background when the host has its answer.
    pub background: Vec<BackgroundWork>,
}

/// Work that takes longer than a hook may.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BackgroundWork {
    /// Ask the user's command about the goal of a session.
    Refine {
        /// The root of the checkout.
        root: PathBuf,
        session: SessionId,
        /// The number of the human's prompt that set or changed it.
        prompt: u64,
    },
    /// Read from history which files change together.
    FindNeighbours {
        /// The root of the checkout.
        root: PathBuf,
    },
}

impl BackgroundWork {
    fn of(effect: &Effect, root: &Path, session: &SessionId) -> Option<Self> {
        let root = || root.to_owned();
        match effect {
            Effect::Refine { prompt } => Some(Self::Refine { root: root(), session: session.clone(), prompt: *prompt }),
            Effect::FindNeighbours => Some(Self::FindNeighbours { root: root() }),
            _ => None,
        }
    }
}

/// The answer to one event: whatever a host sends, and however our own code panics, there is one.
///
/// That it comes in time is for whoever owns the process to see to. Where it does not, [`fallback`] answers.
pub fn answer(call: &HookCall, around: &HookEnvironment, stdin: impl Read) -> HookAnswer {
    std::panic::set_hook(Box::new(|_| {}));
    let done = match catch_unwind(AssertUnwindSafe(|| work(call, around, stdin))) {
        Ok(done) => done,
        Err(panic) => Err(format!("panicked: {}", message(&*panic))),
    };
    done.unwrap_or_else(|why| HookAnswer { said: fallback(call, around, &why), background: Vec::new() })
}

fn work(call: &HookCall, around: &HookEnvironment, stdin: impl Read) -> Result<HookAnswer, String> {
    let mut payload = Vec::with_capacity(8 << 10);
    stdin.take(PAYLOAD).read_to_end(&mut payload).map_err(|error| format!("cannot read the payload: {error}"))?;
    judge(call, around, &payload)
}

fn judge(call: &HookCall, around: &HookEnvironment, payload: &[u8]) -> Result<HookAnswer, String> {
    let outside = steadfast_hosts::WireContext {
        at: around.now,
        cwd: around.cwd.to_string_lossy().into_owned(),
        session: around.session.clone(),
        attended: around.attended,
        other_host: around.other_host,
    };
    let mut event = match decode(call.host, call.via, &call.event, payload, &outside) {
        Ok(event) => event,
        // It reads the settings of the host that we are wired into, and is no session of ours: it continues.
        Err(WireError::OtherHost(_)) => return Ok(HookAnswer::default()),
        Err(error) => return Err(error.to_string()),
    };
    // Hooks in the user's own settings are called everywhere; they act only where `init` left state.
    let Some(place) = home_of(&event, around) else { return Ok(HookAnswer::default()) };
    if is_for_humans(&event) && event.attended != Some(false) {
        let may_be = sender::may_be_attended(&place, around.peer);
        event.attended = if may_be { event.attended.or_else(process::is_attended) } else { Some(false) };
    }
    let mut event = Redacted::of(event);
    let claimed = SessionFiles::of(&place, &event.session);
    let mut glance = claimed.glance();
    let known = sender::known(&claimed, glance.as_ref().map(Glance::state));
    sender::check(&place, event.event_mut(), around.peer, &known);
    if event.session != *claimed.session() {
        glance = SessionFiles::of(&place, &event.session).glance();
    }
    speaker::check(&place, event.event_mut(), payload);
    let config = ConfigFiles::of(&place, around.user_config.as_deref()).beside(around.user_state.as_deref());
    let seen = seen(&place, around, &event, payload, known);
    let session = event.session.clone();
    let checkout = SessionCheckout::new(&place, &config, around.of_checkout(), glance);
    let PolicyDecision { mut answer, effects, upkeep, .. } =
        handle(checkout, event, around, seen).map_err(|error| error.to_string())?;
    if call.host == Host::Codex {
        name_program(&mut answer, around.programs);
    }
    // What was read has a name.
    let said = EventName::parse(&call.event).and_then(|name| encode(call.host, name, &answer));
    let done_later = effects.iter().chain(&upkeep);
    let background = done_later.filter_map(|effect| BackgroundWork::of(effect, &place.root, &session)).collect();
    Ok(HookAnswer { said, background })
}

/// What comes with an event: who sent it, and what its payload says beside it.
fn seen(place: &Place, around: &HookEnvironment, event: &Event, payload: &[u8], known: Vec<Noted>) -> Facts {
    let starts = matches!(event.kind, EventKind::SessionStart { .. });
    let speaks = matches!(event.kind, EventKind::Prompt { .. } | EventKind::Stop(_));
    // A session that was begun before we were called for it had no start.
    let is_new = starts || (speaks && known.is_empty());
    let transcript = starts.then(|| transcript_path(payload)).flatten();
    Facts {
        keeps_hooks: settings::leaves_us(event, payload),
        inherited: sender::inherited(place, event, around.peer),
        hosts: if is_new { sender::hosts(known, around.peer) } else { None },
        transcript: transcript.map(|path| path.to_string_lossy().into_owned()),
        ..Facts::default()
    }
}

/// The event of a payload, and before it what the host's list of tasks says.
fn handle(
    mut checkout: SessionCheckout<'_>,
    mut event: Redacted,
    around: &HookEnvironment,
    seen: Facts,
) -> Result<PolicyDecision, EventError> {
    let source = checkout.tasks_from(event.at);
    if host_list::is_of_unfollowed(&event, source) {
        return Ok(PolicyDecision::default());
    }
    let look = |state| host_list::seen(&checkout.around, around.task_list, state, &event);
    let noticed = match checkout.state().and_then(look) {
        Some(list_seen) => Some(checkout.handle(&Redacted::of(list_seen), Facts::default())?.answer),
        None => None,
    };
    host_list::pass_over(event.event_mut(), source);
    let mut decision = checkout.handle(&event, seen)?;
    if let Some(noticed) = noticed {
        decision.answer = host_list::told(&event, noticed, decision.answer);
    }
    Ok(decision)
}

/// Whether it matters for this event who sits before the host. Rare enough to look.
fn is_for_humans(event: &Event) -> bool {
    match &event.kind {
        EventKind::Prompt { text, .. } => {
            let text = text.trim_start();
            text.starts_with("approve plan ") || text.starts_with("reject plan ")
        }
        EventKind::PreTool(call) | EventKind::PostTool(ToolResult { call, .. }) => {
            matches!(call.action, Action::Ask | Action::LeavePlan)
        }
        _ => false,
    }
}

/// Where every login shell looks.
const EVERYWHERE: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];

/// Codex runs commands in a login shell, whose `PATH` may lack what its hooks find: an agent that is told to call us is
/// told where we are.
fn name_program(answer: &mut Answer, programs: fn() -> Vec<PathBuf>) {
    let text = match &mut answer.ruling {
        Ruling::Continue { reason } | Ruling::Deny { reason } => Some(reason),
        _ => answer.context.as_mut(),
    };
    let Some(text) = text.filter(|text| text.contains("`steadfast ")) else { return };
    let has_our_name = |path: &PathBuf| path.file_name().is_some_and(|name| name == "steadfast");
    let Some(program) = programs().into_iter().find(has_our_name) else { return };
    if !EVERYWHERE.iter().any(|folder| program.parent() == Some(Path::new(folder))) {
        *text += &format!(" If your shell does not find `steadfast`, call `{}`.", program.display());
    }
}

/// Where a session is kept. It may wander (`cd` into another repository, out of all of them) and stays what it was: a
/// place that knows it comes before one that does not.
fn home_of(event: &Event, around: &HookEnvironment) -> Option<Place> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str, programs: fn() -> Vec<PathBuf>) -> String {
        let mut answer = Answer { ruling: Ruling::Continue { reason: text.into() }, ..Answer::default() };
        name_program(&mut answer, programs);
        match answer.ruling {
            Ruling::Continue { reason } => reason,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_agent_that_is_sent_to_our_commands_is_told_where_they_are() {
        let elsewhere = || vec![PathBuf::from("/opt/x/steadfast-hook-codex-user"), PathBuf::from("/opt/x/steadfast")];
        let next = "Run `steadfast task next`.";
        assert_eq!(
            told(next, elsewhere),
            "Run `steadfast task next`. If your shell does not find `steadfast`, call `/opt/x/steadfast`."
        );
        assert_eq!(told("Go on.", elsewhere), "Go on.");
        assert_eq!(told(next, || vec![PathBuf::from("/usr/local/bin/steadfast")]), next);
    }
}
