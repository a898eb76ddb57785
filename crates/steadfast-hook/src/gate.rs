//! Carries out a decision about a gate: its marker, its seal, its draft. Each step may run twice.

use std::io;
use std::time::Duration;

use steadfast_model::{DraftLine, Gate, GateScope, Millis, Profile, ToolUseId, Waiting};
use steadfast_plan::{CompileOptions, compile, hash};
use steadfast_store::{
    ConfigFiles, Consent, Draft, DraftFormat, GrantError, OldMarker, Place, close_and_seal, close_gate, draft, gate_of,
    grant, keep_draft, log_line, reseal_tree, text_hash,
};

/// The folder for drafts from plan mode, which have no path of their own.
const PLANS: &str = ".steadfast/plans";

/// The time for git to seal a tree that is too large for single files. The host waits meanwhile.
const TREE: Duration = Duration::from_millis(600);

/// The time to seal it again: git read the tree within the same second.
const TREE_AGAIN: Duration = Duration::from_millis(300);

pub(crate) fn close(place: &Place, gate: &Gate) -> io::Result<()> {
    let gate = Gate { root: place.worktree(), ..gate.clone() };
    close_and_seal(place, &gate, OldMarker::Keep, TREE).map(drop)
}

/// Saves the text from the end of plan mode as the draft of a gate.
pub(crate) fn keep(
    place: &Place,
    scope: &GateScope,
    call: &ToolUseId,
    text: &str,
    waiting: Option<Waiting>,
    now: Millis,
) -> io::Result<()> {
    let Some(gate) = gate_of(place, scope) else {
        return Err(io::Error::new(io::ErrorKind::NotFound, "the gate has no marker"));
    };
    let hash = text_hash(text);
    let draft = Draft {
        title: title(text),
        tasks: 0,
        path: format!("{PLANS}/{}.md", hash.get(..DraftLine::SHORT).unwrap_or(&hash)),
        worktree: place.worktree(),
        session: match scope {
            GateScope::Session(session) => Some(session.clone()),
            GateScope::Worktree(_) => None,
        },
        proposed_at: now,
        replaces: gate.draft.as_ref().map(|draft| draft.hash.clone()).filter(|before| *before != hash),
        format: DraftFormat::Text,
        text: text.to_owned(),
        hash,
    };
    keep_draft(place, &draft)?;
    let line = DraftLine { call: Some(call.clone()), ..draft.line() };
    close_gate(place, &Gate { draft: Some(line), waiting: waiting.or(gate.waiting), ..gate })
}

/// Records a human's approval: record, file and gate.
pub(crate) fn approve(place: &Place, config: &ConfigFiles, yes: &Consent<'_>) -> Result<(), GrantError> {
    // If the configuration cannot be read, the previous one applied to this decision. That was not a hardened profile
    // either.
    let profile = config.load().map_or(Profile::Default, |settings| settings.approval.profile.value);
    // The same plan may be proposed in another checkout, where this approval does not count.
    if draft(place, yes.hash).is_some_and(|draft| draft.worktree != place.worktree()) {
        return Err(GrantError::NoDraft(yes.hash.to_owned()));
    }
    let granted = grant(place, profile, config.user_state(), yes, &draft_hash)?;
    if let Some(kept) = granted.kept {
        log_line(
            place,
            yes.at,
            &format!("the file that was at the path of the approved plan is kept at {}", kept.display()),
        );
    }
    Ok(())
}

/// Returns the hash of a draft's current content: of its text, or of the plan in it.
pub fn draft_hash(draft: &Draft) -> String {
    let of_text = text_hash(&draft.text);
    if draft.hash == of_text {
        return of_text;
    }
    compile(&draft.text, &draft.path, &CompileOptions::default()).map_or(of_text, |compiled| hash(&compiled.plan))
}

/// Returns the first heading, or the first line.
fn title(text: &str) -> String {
    const LONG: usize = 80;
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let heading = text.lines().find_map(|line| line.strip_prefix("# "));
    heading.or_else(|| lines.next()).unwrap_or("a plan").chars().take(LONG).collect()
}

pub(crate) fn adopt_tree(place: &Place, scope: &GateScope) -> io::Result<()> {
    reseal_tree(place, scope, &place.root, TREE_AGAIN)
}
