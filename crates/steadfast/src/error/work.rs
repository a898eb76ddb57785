//! What to do about an error of the work: each kind of no becomes an exit code, each error gets its hints.

use steadfast_hosts::install::InstallError;
use steadfast_hosts::transcript::ListingError;
use steadfast_store::{GrantError, SigningError};
use steadfast_work::clean::CleanError;
use steadfast_work::history::HistoryError;
use steadfast_work::setup::SetupError;
use steadfast_work::task_list::DraftName;
use steadfast_work::{
    ApprovalError, Cause, DecisionError, GateError, LoopError, PlanError, RepositoryError, SpecError, TaskError,
    WorkError, chain,
};

use super::{CommandError, ErrorKind};

impl From<Cause> for ErrorKind {
    fn from(cause: Cause) -> Self {
        match cause {
            Cause::Refused => Self::Refused,
            Cause::NeedsHuman => Self::NeedsHuman,
            Cause::Input => Self::Usage,
            Cause::NotFound | Cause::State | Cause::Infrastructure => Self::Failure,
        }
    }
}

impl From<WorkError> for CommandError {
    fn from(error: WorkError) -> Self {
        let said = Self::new(error.cause().into(), chain(&error));
        match error {
            WorkError::Task(error) => task(said, &error),
            WorkError::Plan(error) => plan(said, &error),
            WorkError::Approval(error) => approval(said, &error),
            WorkError::Gate(error) => gate(said, &error),
            WorkError::Decision(error) => decision(said, &error),
            WorkError::Loop(error) => of_loop(said, &error),
            WorkError::Spec(SpecError::Unreadable { .. }) => {
                said.hint("a spec is a file of Markdown or JSON in UTF-8; `-` is standard input")
            }
            WorkError::Spec(SpecError::Broken { .. }) => said.hint("each says above what to do"),
            WorkError::Tracker { .. } => {
                said.hint("what is known of it here still holds; `steadfast config show` says where it is kept")
            }
            WorkError::Repository(RepositoryError::NotSetUp { .. }) => {
                said.hint("`steadfast init` sets it up; it shows what it changes first")
            }
            WorkError::Repository(RepositoryError::EmptyPath) => said.hint("`--file PATH` names a file or folder"),
            WorkError::Ledger(error) => error.into(),
            WorkError::Config(error) => error.into(),
            WorkError::Session(error) => error.into(),
        }
    }
}

impl From<SpecError> for CommandError {
    fn from(error: SpecError) -> Self {
        WorkError::from(error).into()
    }
}

impl From<RepositoryError> for CommandError {
    fn from(error: RepositoryError) -> Self {
        WorkError::from(error).into()
    }
}

impl From<SetupError> for CommandError {
    fn from(error: SetupError) -> Self {
        let said = Self::new(error.cause().into(), &error);
        match error {
            SetupError::NoHome => said.hint("set `HOME` to a folder of yours and try again"),
            SetupError::NoHost => {
                said.hint("`steadfast init --host claude` or `--host codex` wires one that comes later")
            }
            SetupError::NotCreated { .. } | SetupError::NotBroughtBack { .. } => {
                said.hint("nothing was changed; make its folder writable and try again")
            }
            SetupError::NotPutAway { kept, .. } => said.hint(format!(
                "the hosts call Steadfast no more; see to it that `{}` can be replaced, and try again",
                kept.display()
            )),
            SetupError::Exclude { .. } => said.hint(
                "the settings of the hosts are written; see to it that this is a file in a folder of yours, with space left, \
                 and try again",
            ),
        }
    }
}

impl From<HistoryError> for CommandError {
    fn from(error: HistoryError) -> Self {
        let said = Self::failure(&error);
        match error {
            HistoryError::Ledger(error) => error.into(),
            HistoryError::Ambiguous { .. } => said.hint("a few more letters tell them apart"),
            HistoryError::NoSession(_) => said.hint("`steadfast status` lists the sessions"),
        }
    }
}

impl From<CleanError> for CommandError {
    fn from(error: CleanError) -> Self {
        match error {
            CleanError::Ledger(error) => error.into(),
            CleanError::Config(error) => error.into(),
            CleanError::Swept(_) | CleanError::File { .. } => Self::failure(error)
                .hint("delete it yourself if it stays; the next `steadfast clean` removes what is left"),
        }
    }
}

impl From<ListingError> for CommandError {
    fn from(error: ListingError) -> Self {
        let said = Self::failure(&error);
        match error {
            ListingError::Unreadable { .. } | ListingError::NoneOf { .. } => {
                said.hint("name a transcript, or a folder that holds some")
            }
            ListingError::NoneIn { .. } => {
                said.hint("transcripts end in `.jsonl`, or in `.jsonl.zst` where Codex packed them")
            }
        }
    }
}

impl From<InstallError> for CommandError {
    fn from(error: InstallError) -> Self {
        Self::failure(chain(&error)).hint(install(&error))
    }
}

fn install(error: &InstallError) -> String {
    match error {
        InstallError::Settings { path, .. }
        | InstallError::Encoding { path, .. }
        | InstallError::NotAFile { path }
        | InstallError::Read { path, .. } => format!("nothing was written; mend `{}` and try again", path.display()),
        InstallError::ReadOnly { path } => {
            format!("nothing was written; make `{}` writable and try again", path.display())
        }
        InstallError::Path { .. } => "nothing was written; put the program where its path can be written down".into(),
        InstallError::Record { path, .. } => {
            format!(
                "nothing was written; move `{}` away and try again: our hooks are known by their shape",
                path.display()
            )
        }
        InstallError::Changed { .. } | InstallError::Locked { .. } => "close the host and try again".into(),
        InstallError::Write { path, .. } => {
            format!("see to it that `{}` can be a file of yours, and try again", path.display())
        }
        InstallError::Undone { source, .. } => install(source),
    }
}

fn task(said: CommandError, error: &TaskError) -> CommandError {
    use TaskError as E;
    match error {
        E::NoTitle => said.hint("`steadfast task add TITLE` says in one line what is to be done"),
        E::EmptyNote => said.hint("`steadfast task note ID TEXT`"),
        E::NoReason => said.hint("`steadfast task block ID --why REASON` says what a human has to see to"),
        E::NoTasks => said.hint("`steadfast task add TITLE` adds one"),
        E::InRun { .. } => said.hint(
            "`steadfast progress` shows how the run stands, `steadfast resume` goes on with it, `steadfast resume --give-up` ends it",
        ),
        E::Blocked(id) => said.hint(format!("a human runs `steadfast task unblock {id}`")),
        E::NotBlocked { .. } => said.hint("`steadfast task list` shows where every task stands"),
        E::InsideCheck { .. } | E::ChecksInsideCheck { .. } => {
            said.hint("take it out of the check, which only says whether a task is done")
        }
        E::Leased { .. } => said.hint("`steadfast task next` shows one that no other session works on"),
        E::Waits { .. } => said.hint("`steadfast task next` shows what can be done now"),
        E::ForcedByAgent(_) => said.hint("`steadfast task block ID --why REASON` sets it aside for one"),
        E::AcceptedByAgent(id) => said.hint(format!("a human runs `steadfast task done {id} --accept-check`")),
        E::CheckChanged { task, .. } => {
            said.hint(format!("put it back, or a human says yes: `steadfast task done {task} --accept-check`"))
        }
        E::NoCheckRuns(id) => said.hint(format!("`steadfast task done {id}` starts it")),
        E::NoCommand(id) => said.hint(format!("`steadfast task done {id}` looks at what proves it")),
        E::NoArtifact(id) => {
            said.hint(format!("`steadfast task done {id} --artifact FILE`, a screenshot taken after the change"))
        }
        E::Undefined { .. } => {
            said.hint("mend that and try again: a check is run only when it is known what it runs")
        }
        E::NotStarted { .. } => said.hint("`steadfast doctor` looks at the state it needs"),
        E::StatedNotStarted { .. } | E::StatedLost { .. } => said.hint("`steadfast doctor` looks at this machine"),
        E::NotSeen { task, .. } | E::CheckLost { task, .. } => {
            said.hint(format!("`steadfast task done {task}` checks it again"))
        }
        E::DiskFull { .. } => said.hint("make room there, and try again"),
    }
}

fn plan(said: CommandError, error: &PlanError) -> CommandError {
    use PlanError as E;
    match error {
        E::NoPlan => said.hint("`steadfast plan load SPEC.md` loads one"),
        E::Unknown { known, .. } if known.is_empty() => said.hint("`steadfast plan load SPEC.md` loads one"),
        E::Unknown { .. } => said.hint("`steadfast plan list` shows the plans of this worktree"),
        E::AllDone { .. } => said.hint("`steadfast plan clear` archives the plan in force"),
        E::GateClosed { source_file: Some(file), .. } => said
            .hint(format!("`steadfast plan propose {file}` keeps it for the human, whose yes opens the gate"))
            .hint("`steadfast plan status` shows how it stands"),
        E::GateClosed { source_file: None, .. } => said.hint("`steadfast plan status` shows how it stands"),
        E::NotTheDraft { path, .. } => {
            said.hint(format!("`steadfast plan propose {path}` keeps it for a human's yes; or a human loads it"))
        }
        E::Changed { path, .. } => {
            said.hint(format!("a human runs `steadfast plan load {path}`; what did not change keeps its status"))
        }
        E::SkillsGone { path, .. } => said.hint(format!("a human runs `steadfast plan load {path}`, which leaves them out")),
        E::NothingTracked(_) => said.hint("`ledger.epic` names the epic; without it every issue is a task"),
        E::NothingOpen(_) => said.hint("`steadfast task list` shows its tasks"),
        E::NotArchived { .. } => {
            said.hint("move it away yourself: no plan writes it any more, and nothing else is left to do")
        }
        E::NotKept(_) => said.hint(
            "where a sandbox keeps `.git` read-only, the tool `plan_propose` of the MCP server `steadfast` does the same",
        ),
        E::NoPlace { .. } => said.hint("`--path PATH` is a file in this checkout, such as `docs/plan.md`"),
        E::NameNotText(_) => said.hint("`--path PATH` says where it is written, such as `docs/plan.md`"),
        E::SeveralDrafts(drafts) => {
            let line = |DraftName { short, title }: &DraftName| format!("`{short}`: {title}");
            drafts.iter().map(line).fold(said, CommandError::hint)
        }
        E::NoDraft => {
            said.hint("`steadfast plan propose FILE` keeps one; `steadfast plan status` shows how the plan stands")
        }
        E::UnknownDraft { waiting, .. } if waiting.is_empty() => said.hint("`steadfast plan propose FILE` keeps one"),
        E::UnknownDraft { waiting, .. } => {
            let line = |DraftName { short, title }: &DraftName| format!("`{short}` waits: {title}");
            waiting.iter().map(line).fold(said, CommandError::hint)
        }
        E::DraftChanged { .. } => said.hint("`steadfast plan propose FILE` proposes it again"),
    }
}

fn approval(said: CommandError, error: &ApprovalError) -> CommandError {
    use ApprovalError as E;
    match error {
        E::Missing { draft: Some(short), .. } => said.hint(format!(
            "a human runs `steadfast plan approve {short}`, or sends the message `approve plan {short}`"
        )),
        E::Missing { file: Some(file), .. } => said.hint(format!(
            "a human runs `steadfast plan load {file}`, or `steadfast plan propose {file}` keeps it for their yes"
        )),
        E::Missing { .. } => said.hint("`steadfast plan propose FILE` keeps a plan for a human's yes"),
        E::Elsewhere { .. } => said.hint("`steadfast plan propose FILE` proposes it here; or approve it there"),
        E::OtherDraft { short } => said.hint(format!("`steadfast plan reject {short}` turns that one down first")),
        E::NoHome => said.hint("set `HOME` to a folder of yours and try again"),
        E::NoKey => said.hint("`steadfast config set --user approval.key ~/.ssh/id_ed25519_sk`"),
        E::Signing(error) | E::Grant(GrantError::Signing(error)) => signing(error),
        E::Grant(error) => grant(said, error),
    }
}

fn grant(said: CommandError, error: &GrantError) -> CommandError {
    let nothing = || CommandError::failure(format!("nothing is approved: {}", chain(error)));
    match error {
        GrantError::Signing(error) => signing(error),
        GrantError::Plan { path, .. } => said.hint(format!(
            "the approval is signed, and the gate stays closed; see to it that `{}` can be a file of yours, and try again",
            path.display()
        )),
        GrantError::Seal(_) | GrantError::Gate(_) => said
            .hint("the plan is signed and written; look at the disk and try again: what was done is not done twice"),
        GrantError::Outside(_) => {
            nothing().hint("`steadfast plan propose FILE --path PATH` proposes it for another path")
        }
        GrantError::OtherDraft(_) => nothing().hint("`steadfast plan propose FILE` proposes it again"),
        GrantError::NoDraft(_) | GrantError::Terminal(_) | GrantError::NoUserState => {
            nothing().hint("`steadfast plan status` shows how the plan stands")
        }
    }
}

fn signing(error: &SigningError) -> CommandError {
    let said = CommandError::failure(format!("nothing is approved: {}", chain(error)));
    match error {
        SigningError::Key { path, .. } => said.hint(format!(
            "look at `{}`; if it is lost, move it away: a new one is made, and approvals that it signed have to be given again",
            path.display()
        )),
        SigningError::Ssh(_) => said.hint("`approval.key` names the key; `ssh-keygen -Y sign` has to be able to use it"),
        SigningError::Record(_) => said.hint("look at the disk and the permissions of the state, and try again"),
    }
}

fn gate(said: CommandError, error: &GateError) -> CommandError {
    match error {
        GateError::NotClosed(_) => said.hint(
            "where a sandbox keeps `.git` read-only, the tool `plan_propose` of the MCP server `steadfast` closes it; else look \
             at the disk and its permissions",
        ),
        GateError::NotOpened { folder, .. } => said.hint(format!(
            "see to it that what is in `{}` can be removed, and try again: what was done is not done twice",
            folder.display()
        )),
    }
}

fn decision(said: CommandError, error: &DecisionError) -> CommandError {
    match error {
        DecisionError::Empty => {
            said.hint("`steadfast decide TEXT --why REASON` keeps it for every session after this one")
        }
        DecisionError::Unreadable { .. } => said.hint("move it away: it is written anew when it is not there"),
        DecisionError::NotWritten { .. } | DecisionError::NotMoved { .. } => said,
    }
}

fn of_loop(said: CommandError, error: &LoopError) -> CommandError {
    use LoopError as E;
    match error {
        E::None => said
            .hint("`steadfast loop start \"what is wanted\"` begins one, `steadfast loop start SPEC.md` from a spec"),
        E::OutOfOrder { from, .. } => {
            let way = from.next().map_or("it is over", steadfast_model::Stage::as_str);
            said.hint(format!("what follows is {way}; `steadfast loop next` says what it needs"))
        }
        E::Unclear { .. } => said
            .hint(
                "`steadfast loop start TEXT` with a clearer request; `steadfast loop score TEXT` says what is missing",
            )
            .hint("a human takes it as it is with `steadfast loop override --why REASON`"),
        E::NoShape => said.hint("`steadfast loop shape SPEC.md` keeps criteria, must-nots and verification of a spec"),
        E::NothingOpen => said.hint("`steadfast task add TITLE` adds what a finding asks for"),
        E::OpenTasks { .. } => said.hint("`steadfast task next` shows the next one"),
        E::NotByWord => {
            said.hint("`steadfast loop gate` looks at tasks, evidence, reviews and must-nots, and completes it")
        }
        E::Moved => said.hint("`steadfast loop status` shows where it is"),
        E::NoPlan { spec } => {
            let spec = spec.as_deref().unwrap_or("SPEC.md");
            said.hint(format!("`steadfast plan load {spec}` makes tasks of a spec"))
        }
        E::NoFile(_) => said.hint("a request is a sentence in quotes, or the file of a spec"),
        E::EmptyRequest => said.hint("`steadfast loop start \"what is wanted\"`, or `steadfast loop start SPEC.md`"),
        E::LimitReached { .. } | E::RaisedByAgent => said.hint(
            "a human raises it at a terminal: `steadfast loop start --resume --max-iterations N --budget USD`; `none` is \
             no limit",
        ),
    }
}
