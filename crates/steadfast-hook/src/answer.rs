use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use steadfast_engine::PolicyDecision;
use steadfast_hosts::install::Homes;
use steadfast_hosts::{ClaudeVersion, WireError, decode, encode, transcript_path};
use steadfast_model::{
    Action, Answer, Effect, Event, EventKind, EventName, Facts, Host, Millis, Ruling, SessionId, StartSource,
    ToolResult,
};
use steadfast_store::{ConfigFiles, Glance, Place, SessionFiles, take_waiting};

use crate::approved::LoadApproved;
use crate::call::HookCall;
use crate::checkout::{EventError, HookContext, SessionCheckout};
use crate::fallback::fallback;
use crate::follow::{Follow, FollowResult};
use crate::notice::Notice;
use crate::redacted::Redacted;
use crate::sender::Noted;
use crate::{host_list, process, sender, settings, speaker};

/// The most bytes of a payload that are read.
const PAYLOAD: u64 = 64 << 20;

/// The facts about the process of a hook.
#[derive(Clone, Debug)]
pub struct HookEnvironment {
    pub now: Millis,
    pub cwd: PathBuf,
    /// The checkout that the session started in, from the host's environment.
    pub project: Option<PathBuf>,
    pub session: Option<SessionId>,
    pub attended: Option<bool>,
    /// The process that made the socket on standard input, if it is a socket.
    pub peer: Option<u32>,
    /// A host other than the one in the call, named by the environment.
    pub other_host: Option<&'static str>,
    pub user_state: Option<PathBuf>,
    pub user_config: Option<PathBuf>,
    /// A file that exists once the run of this session has spent its budget. A session outside of a run has no such
    /// file, and the hook does not look for one.
    pub run_spent: Option<PathBuf>,
    /// Returns where the hosts keep the user's settings. Called once in the life of a checkout, because it reads much
    /// of the environment.
    pub homes: fn() -> Option<Homes>,
    /// Returns the paths by which this program is installed. Called only if a call may name one.
    pub programs: fn() -> Vec<PathBuf>,
    /// Reads the external tracker that holds the tasks, if the settings name one.
    pub follow: Follow,
    /// Loads a plan that a human has just approved.
    pub load: LoadApproved,
    /// Returns the version of Claude Code, if it calls this hook. Called only for an answer whose form depends on it.
    pub claude_version: fn() -> Option<ClaudeVersion>,
    /// Returns which of its task lists the host uses, from its environment. Called only when a followed list is read.
    pub task_list: fn() -> Option<String>,
}

impl HookEnvironment {
    /// Returns an environment without variables, settings and trackers.
    pub fn bare(now: Millis, cwd: PathBuf) -> Self {
        Self {
            now,
            cwd,
            project: None,
            session: None,
            attended: None,
            peer: None,
            other_host: None,
            user_state: None,
            user_config: None,
            run_spent: None,
            homes: || None,
            programs: Vec::new,
            follow: |_, _| FollowResult::default(),
            load: |_, _| Ok(None),
            claude_version: || None,
            task_list: || None,
        }
    }

    pub(crate) fn of_checkout(&self) -> HookContext<'_> {
        let Self { homes, follow, load, programs, .. } = *self;
        HookContext { run_spent: self.run_spent.as_deref(), homes, follow, load, programs }
    }

    /// The folders to search for a place: those of the event, of the hook and of the session.
    pub(crate) fn directories<'a>(&'a self, cwd: &'a Path) -> impl Iterator<Item = &'a Path> {
        [Some(cwd), Some(self.cwd.as_path()), self.project.as_deref()].into_iter().flatten()
    }
}

/// The result of one event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HookAnswer {
    /// The text for standard output, if any.
    pub said: Option<String>,
    /// Work to start in the background after the answer.
    pub background: Vec<BackgroundWork>,
}

/// Work that takes too long for a hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BackgroundWork {
    /// Run the user's command that refines the goal of a session.
    Refine {
        /// The root of the checkout.
        root: PathBuf,
        session: SessionId,
        /// The number of the user's prompt that set or changed the goal.
        prompt: u64,
    },
    /// Tell the human that the session needs them.
    Notify {
        /// The root of the checkout.
        root: PathBuf,
        /// The same for each report of this moment.
        key: String,
        text: String,
    },
    /// Find in the history which files change together.
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

/// Answers one event. There is always an answer, whatever the host sends, and even if our code panics.
///
/// The caller is responsible for the time limit. When it expires, [`fallback`] answers.
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
        // Another host reads the settings of the one that we are installed for. This is not a session of ours, so it
        // continues.
        Err(WireError::OtherHost(_)) => return Ok(HookAnswer::default()),
        Err(error) => return Err(error.to_string()),
    };
    // Hooks in the user's own settings run in every folder, but only act where `init` left state.
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
    // The agents of a run need nobody: the run does.
    let notifies = around.run_spent.is_none() && glance.as_ref().is_some_and(|glance| glance.state().rules.notifies);
    let noticed = notifies.then(|| Event::clone(&event));
    let checkout = SessionCheckout::new(&place, &config, around.of_checkout(), glance);
    let decision = handle(checkout, event, around, seen).map_err(|error| error.to_string())?;
    let notice = noticed.and_then(|event| Notice::of(&event, &decision));
    let PolicyDecision { mut answer, effects, upkeep, .. } = decision;
    if call.host == Host::Codex {
        name_program(&mut answer, around.programs);
    }
    // The event was parsed, so its name is valid.
    let depends = matches!(answer.ruling, Ruling::Continue { .. } | Ruling::AskInstead(_));
    let version = if depends && call.host == Host::Claude { (around.claude_version)() } else { None };
    let said = EventName::parse(&call.event).and_then(|name| encode(call.host, version, name, &answer));
    let done_later = effects.iter().chain(&upkeep);
    let mut background: Vec<BackgroundWork> =
        done_later.filter_map(|effect| BackgroundWork::of(effect, &place.root, &session)).collect();
    background.extend(notice.map(|Notice { key, text }| BackgroundWork::Notify {
        root: place.root.clone(),
        key,
        text,
    }));
    Ok(HookAnswer { said, background })
}

/// Collects the facts that arrive with an event: its sender, and other fields of its payload.
fn seen(place: &Place, around: &HookEnvironment, event: &Event, payload: &[u8], known: Vec<Noted>) -> Facts {
    let starts = matches!(event.kind, EventKind::SessionStart { .. });
    let speaks = matches!(event.kind, EventKind::Prompt { .. } | EventKind::Stop(_));
    // If our hooks were installed during a session, they did not see its start.
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

/// Handles the event of a payload, after the changes in the host's task list.
pub(crate) fn handle(
    mut checkout: SessionCheckout<'_>,
    mut event: Redacted,
    around: &HookEnvironment,
    seen: Facts,
) -> Result<PolicyDecision, EventError> {
    let source = checkout.tasks_from(event.at);
    if host_list::is_of_unfollowed(&event, source) {
        return Ok(PolicyDecision::default());
    }
    let look = |state| host_list::changes(&checkout.around, around.task_list, state, &event);
    let noticed = match checkout.state().and_then(look) {
        Some(list_seen) => Some(checkout.handle(&Redacted::of(list_seen), Facts::default())?.answer),
        None => None,
    };
    host_list::pass_over(event.event_mut(), source);
    let mut decision = checkout.handle(&event, seen)?;
    take_waiting_commands(&mut checkout, &event);
    if let Some(noticed) = noticed {
        decision.answer = host_list::merge_answers(&event, noticed, decision.answer);
    }
    Ok(decision)
}

/// Gives a session what a human said before it started or continued: `goal forbid push`, `off`. Subagents and agents of a
/// run leave it for the human's own session.
fn take_waiting_commands(checkout: &mut SessionCheckout<'_>, event: &Event) {
    let EventKind::SessionStart { source } = event.kind else { return };
    if source == StartSource::Compact || event.agent.is_some() || checkout.around.run_spent.is_some() {
        return;
    }
    let (place, mut failures) = (checkout.place, Vec::new());
    let taken = take_waiting(place, |command| {
        let told = Event::plain(event.session.clone(), event.host, event.cwd.clone(), event.at, command);
        failures.extend(checkout.handle(&Redacted::of(told), Facts::default()).err().map(|error| error.to_string()));
    });
    failures.extend(taken.err().map(|error| error.to_string()));
    for error in failures {
        checkout.log(event.at, &format!("session {}: cannot take what waited for it: {error}", event.session));
    }
}

/// Returns whether it matters for this event that a human operates the host. Such events are rare, so the check may be
/// slow.
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

/// The folders that every login shell searches.
const EVERYWHERE: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];

/// Codex runs commands in a login shell, whose `PATH` may differ from that of its hooks. So a text that names our
/// command also gets its full path.
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

/// Returns the place of a session. The session may change to another repository or leave all of them, so a place that
/// knows it is preferred.
fn home_of(event: &Event, around: &HookEnvironment) -> Option<Place> {
    place_of(&event.session, event.cwd.as_ref(), around)
}

pub(crate) fn place_of(session: &SessionId, cwd: &Path, around: &HookEnvironment) -> Option<Place> {
    let mut first = None;
    for directory in around.directories(cwd) {
        let Some(place) = Place::find(directory, around.user_state.as_deref()) else { continue };
        if SessionFiles::of(&place, session).dir().is_dir() {
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
