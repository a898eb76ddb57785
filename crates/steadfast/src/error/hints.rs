//! What to do about each error of the libraries: one table per error type, a row per variant with its hints.

use std::io::IsTerminal;

use steadfast_hook::EventError;
use steadfast_hosts::install::InstallError;
use steadfast_hosts::transcript::ListingError;
use steadfast_runner::RunError;
use steadfast_runner::preflight::NotReady;
use steadfast_store::ledger::LedgerError;
use steadfast_store::{ConfigError, GrantError, SessionError, SigningError};
use steadfast_work::clean::CleanError;
use steadfast_work::history::HistoryError;
use steadfast_work::setup::SetupError;
use steadfast_work::task_list::DraftName;
use steadfast_work::{
    ApprovalError, Cause, DecisionError, GateError, LoopError, PlanError, RepositoryError, SpecError, TaskError,
    WorkError, chain,
};

use super::{CommandError, ErrorKind, resume_after};
use crate::commands::not_clear;

/// A row: the variant, and its hints in their order, each as `format!` takes it; or an error of its own, in braces.
macro_rules! hints {
    ($said:ident, $error:expr, { $($variant:pat $(if $guard:expr)? => $(($($hint:tt)+))* $({$($own:tt)+})?,)+ }) => {
        match $error { $($variant $(if $guard)? => hints!(@ $said $(($($hint)+))* $({$($own)+})?),)+ }
    };
    (@ $said:ident {$($own:tt)+}) => {{ $($own)+ }};
    (@ $said:ident $(($($hint:tt)+))*) => { $said$(.hint(format_args!($($hint)+)))* };
}

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

impl From<LedgerError> for CommandError {
    fn from(error: LedgerError) -> Self {
        use LedgerError as E;
        let said = Self::failure(chain(&error));
        hints!(said, error, {
            E::Locked { .. } => ("another steadfast is writing; try again in a moment"),
            E::Damaged { path, .. } =>
                ("move `{}` away and run `steadfast status`: a new ledger is made, sessions and journals are kept, tasks \
                 have to be added again", path.display()),
            E::ReadOnly { .. } =>
                ("where a sandbox keeps `.git` read-only, the tools of the MCP server `steadfast` (`task_done`, …) do the \
                 same"),
            E::Unreachable { .. } | E::Failed { .. } =>
                ("look at the path, its permissions and the disk; `steadfast doctor` says more"),
            E::Older { .. } => ("run `steadfast status` where the repository can be written"),
            E::DuplicateTask { .. } => ("without `--id` a task gets the next free number"),
            E::Full { .. } => ("free some space; nothing was lost"),
            E::UnknownPlan { .. } => ("`steadfast plan show` shows the plan of this worktree"),
            E::UnknownTask { .. } | E::UnknownDependency { .. } => ("`steadfast task list` shows all tasks"),
            E::TooLong { .. } | E::TooMany { .. } => {
                Self { kind: ErrorKind::Usage, ..said }
                .hint("the whole of it belongs into a file; name that instead, for a task by `--file PATH`")
            },
            E::LearningFiles { .. } => {
                Self { kind: ErrorKind::Usage, ..said }
                .hint("a folder stands for what is in it: `--file src/auth/`")
            },
            E::OpenLearnings { .. } =>
                ("a human looks at them with `steadfast learn list`, and runs `steadfast learn confirm ID` or `learn \
                 dismiss ID`"),
            E::InRun { .. } | E::UnknownRun { .. } | E::UnknownUnit { .. } =>
                ("`steadfast progress` shows how the run stands, `steadfast resume` goes on with it, `steadfast resume \
                 --give-up` ends it"),
            E::InLoop { .. } | E::UnknownLoop { .. } | E::LoopIsOver { .. } | E::StageSkipped { .. } =>
                ("`steadfast loop status` shows how it stands, `steadfast loop next` what takes it further"),
            E::UnknownFinding { .. } => ("`steadfast loop status` shows the reviews and their findings"),
            E::UnknownLearning { .. } => ("`steadfast learn list` shows them with their numbers"),
            E::IllegalMove { .. } => ("`steadfast task list` shows where every task stands"),
            _ =>,
        })
    }
}

impl From<EventError> for CommandError {
    fn from(error: EventError) -> Self {
        use EventError as E;
        let said = Self::failure(chain(&error));
        hints!(said, error, {
            E::Session(SessionError::Locked(_)) => ("a hook of this session is at work; try again in a moment"),
            E::Session(SessionError::Newer { .. }) => ("update steadfast, or end that session"),
            E::Ledger(error) => { error.into() },
            E::Session(_) | E::Files { .. } | E::Claims(_) | E::Gate(_) | E::Grant(_) =>
                ("`steadfast doctor` looks at the journals and the disk they are on"),
        })
    }
}

impl From<ConfigError> for CommandError {
    fn from(error: ConfigError) -> Self {
        let hint = match &error {
            ConfigError::Unreadable { .. } => "see to it that this is a file you may read, and try again",
            ConfigError::Invalid { .. } => "mend it; `steadfast config schema` lists every key with what it may be",
        };
        Self::failure(error).hint(hint)
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
        hints!(said, error, {
            SetupError::NoHome => ("set `HOME` to a folder of yours and try again"),
            SetupError::NoHost => ("`steadfast init --host claude` or `--host codex` wires one that comes later"),
            SetupError::NotCreated { .. } | SetupError::NotBroughtBack { .. } =>
                ("nothing was changed; make its folder writable and try again"),
            SetupError::NotPutAway { kept, .. } =>
                ("the hosts call Steadfast no more; see to it that `{}` can be replaced, and try again", kept.display()),
            SetupError::Exclude { .. } =>
                ("the settings of the hosts are written; see to it that this is a file in a folder of yours, with space \
                 left, and try again"),
        })
    }
}

impl From<HistoryError> for CommandError {
    fn from(error: HistoryError) -> Self {
        let said = Self::failure(&error);
        hints!(said, error, {
            HistoryError::Ledger(error) => { error.into() },
            HistoryError::Ambiguous { .. } => ("a few more letters tell them apart"),
            HistoryError::NoSession(_) => ("`steadfast status` lists the sessions"),
        })
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
    hints!(said, error, {
        E::NoTitle => ("`steadfast task add TITLE` says in one line what is to be done"),
        E::EmptyNote => ("`steadfast task note ID TEXT`"),
        E::NoReason => ("`steadfast task block ID --why REASON` says what a human has to see to"),
        E::NoTasks => ("`steadfast task add TITLE` adds one"),
        E::InRun { .. } =>
            ("`steadfast progress` shows how the run stands, `steadfast resume` goes on with it, `steadfast resume \
             --give-up` ends it"),
        E::Blocked(id) => ("a human runs `steadfast task unblock {id}`"),
        E::NotBlocked { .. } => ("`steadfast task list` shows where every task stands"),
        E::InsideCheck { .. } | E::ChecksInsideCheck { .. } =>
            ("take it out of the check, which only says whether a task is done"),
        E::Leased { .. } => ("`steadfast task next` shows one that no other session works on"),
        E::Waits { .. } => ("`steadfast task next` shows what can be done now"),
        E::ForcedByAgent(_) => ("`steadfast task block ID --why REASON` sets it aside for one"),
        E::AcceptedByAgent(id) => ("a human runs `steadfast task done {id} --accept-check`"),
        E::CheckChanged { task, .. } =>
            ("put it back, or a human says yes: `steadfast task done {task} --accept-check`"),
        E::NoCheckRuns(id) => ("`steadfast task done {id}` starts it"),
        E::NoCommand(id) => ("`steadfast task done {id}` looks at what proves it"),
        E::NoArtifact(id) => ("`steadfast task done {id} --artifact FILE`, a screenshot taken after the change"),
        E::Undefined { .. } => ("mend that and try again: a check is run only when it is known what it runs"),
        E::NotStarted { .. } => ("`steadfast doctor` looks at the state it needs"),
        E::StatedNotStarted { .. } | E::StatedLost { .. } => ("`steadfast doctor` looks at this machine"),
        E::NotSeen { task, .. } | E::CheckLost { task, .. } => ("`steadfast task done {task}` checks it again"),
        E::DiskFull { .. } => ("make room there, and try again"),
    })
}

fn plan(said: CommandError, error: &PlanError) -> CommandError {
    use PlanError as E;
    hints!(said, error, {
        E::NoPlan => ("`steadfast plan load SPEC.md` loads one"),
        E::Unknown { known, .. } if known.is_empty() => ("`steadfast plan load SPEC.md` loads one"),
        E::Unknown { .. } => ("`steadfast plan list` shows the plans of this worktree"),
        E::AllDone { .. } => ("`steadfast plan clear` archives the plan in force"),
        E::GateClosed { source_file: Some(file), .. } =>
            ("`steadfast plan propose {file}` keeps it for the human, whose yes opens the gate")
            ("`steadfast plan status` shows how it stands"),
        E::GateClosed { source_file: None, .. } => ("`steadfast plan status` shows how it stands"),
        E::NotTheDraft { path, .. } =>
            ("`steadfast plan propose {path}` keeps it for a human's yes; or a human loads it"),
        E::Changed { path, .. } => ("a human runs `steadfast plan load {path}`; what did not change keeps its status"),
        E::SkillsGone { path, .. } => ("a human runs `steadfast plan load {path}`, which leaves them out"),
        E::NothingTracked(_) => ("`ledger.epic` names the epic; without it every issue is a task"),
        E::NothingOpen(_) => ("`steadfast task list` shows its tasks"),
        E::NotArchived { .. } => ("move it away yourself: no plan writes it any more, and nothing else is left to do"),
        E::NotKept(_) =>
            ("where a sandbox keeps `.git` read-only, the tool `plan_propose` of the MCP server `steadfast` does the \
             same"),
        E::NoPlace { .. } => ("`--path PATH` is a file in this checkout, such as `docs/plan.md`"),
        E::NameNotText(_) => ("`--path PATH` says where it is written, such as `docs/plan.md`"),
        E::SeveralDrafts(drafts) => {
            let line = |DraftName { short, title }: &DraftName| format!("`{short}`: {title}");
            drafts.iter().map(line).fold(said, CommandError::hint)
        },
        E::NoDraft => ("`steadfast plan propose FILE` keeps one; `steadfast plan status` shows how the plan stands"),
        E::UnknownDraft { waiting, .. } if waiting.is_empty() => ("`steadfast plan propose FILE` keeps one"),
        E::UnknownDraft { waiting, .. } => {
            let line = |DraftName { short, title }: &DraftName| format!("`{short}` waits: {title}");
            waiting.iter().map(line).fold(said, CommandError::hint)
        },
        E::DraftChanged { .. } => ("`steadfast plan propose FILE` proposes it again"),
    })
}

fn approval(said: CommandError, error: &ApprovalError) -> CommandError {
    use ApprovalError as E;
    hints!(said, error, {
        E::Missing { draft: Some(short), .. } =>
            ("a human runs `steadfast plan approve {short}`, or sends the message `approve plan {short}`"),
        E::Missing { file: Some(file), .. } =>
            ("a human runs `steadfast plan load {file}`, or `steadfast plan propose {file}` keeps it for their yes"),
        E::Missing { .. } => ("`steadfast plan propose FILE` keeps a plan for a human's yes"),
        E::Elsewhere { .. } => ("`steadfast plan propose FILE` proposes it here; or approve it there"),
        E::OtherDraft { short } => ("`steadfast plan reject {short}` turns that one down first"),
        E::NoHome => ("set `HOME` to a folder of yours and try again"),
        E::NoKey => ("`steadfast config set --user approval.key ~/.ssh/id_ed25519_sk`"),
        E::Signing(error) | E::Grant(GrantError::Signing(error)) => { signing(error) },
        E::Grant(error) => { grant(said, error) },
    })
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
    hints!(said, error, {
        SigningError::Key { path, .. } =>
            ("look at `{}`; if it is lost, move it away: a new one is made, and approvals that it signed have to be \
             given again", path.display()),
        SigningError::Ssh(_) => ("`approval.key` names the key; `ssh-keygen -Y sign` has to be able to use it"),
        SigningError::Record(_) => ("look at the disk and the permissions of the state, and try again"),
    })
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
    hints!(said, error, {
        DecisionError::Empty => ("`steadfast decide TEXT --why REASON` keeps it for every session after this one"),
        DecisionError::Unreadable { .. } => ("move it away: it is written anew when it is not there"),
        DecisionError::NotWritten { .. } | DecisionError::NotMoved { .. } =>,
    })
}

fn of_loop(said: CommandError, error: &LoopError) -> CommandError {
    use LoopError as E;
    hints!(said, error, {
        E::None => ("`steadfast loop start \"what is wanted\"` begins one, `steadfast loop start SPEC.md` from a spec"),
        E::OutOfOrder { from, .. } => {
            let way = from.next().map_or("it is over", steadfast_model::Stage::as_str);
            said.hint(format!("what follows is {way}; `steadfast loop next` says what it needs"))
        },
        E::Unclear { .. } =>
            ("`steadfast loop start TEXT` with a clearer request; `steadfast loop score TEXT` says what is missing")
            ("a human takes it as it is with `steadfast loop override --why REASON`"),
        E::NoShape => ("`steadfast loop shape SPEC.md` keeps criteria, must-nots and verification of a spec"),
        E::NothingOpen => ("`steadfast task add TITLE` adds what a finding asks for"),
        E::OpenTasks { .. } => ("`steadfast task next` shows the next one"),
        E::NotByWord => ("`steadfast loop gate` looks at tasks, evidence, reviews and must-nots, and completes it"),
        E::Moved => ("`steadfast loop status` shows where it is"),
        E::NoPlan { spec } => {
            let spec = spec.as_deref().unwrap_or("SPEC.md");
            said.hint(format!("`steadfast plan load {spec}` makes tasks of a spec"))
        },
        E::NoFile(_) => ("a request is a sentence in quotes, or the file of a spec"),
        E::EmptyRequest => ("`steadfast loop start \"what is wanted\"`, or `steadfast loop start SPEC.md`"),
        E::LimitReached { .. } | E::RaisedByAgent =>
            ("a human raises it at a terminal: `steadfast loop start --resume --max-iterations N --budget USD`; \
             `none` is no limit"),
    })
}

impl From<RunError> for CommandError {
    fn from(error: RunError) -> Self {
        use RunError as E;
        let said = Self::new(error.cause().into(), chain(&error));
        hints!(said, error, {
            E::Work(error) => { error.into() },
            E::Ledger(error @ LedgerError::UnknownRun { .. }) => {
                Self::failure(error).hint("without `--run` it is the last one of this worktree that is not over")
            },
            E::Ledger(error) => { error.into() },
            E::NotReady(error) => { error.into() },
            E::NotClear(begun) => { not_clear(&begun, std::io::stdin().is_terminal()) },
            E::Halted { .. } => ("what was done is kept; mend that, and `steadfast resume` goes on"),
            E::Paused { why, .. } => {
                let command = resume_after(&why);
                said.hint(format!("`{command}` goes on where it is; `steadfast progress` shows how it stands"))
            },
            E::NeedsReview { branch, .. } =>
                ("the work is on {branch}")
                ("`steadfast task done ID --force` confirms one, `steadfast task start ID` opens it again"),
            E::NotOver { .. } =>
                ("`steadfast resume` goes on with it; `steadfast resume --give-up` ends it and keeps its branch"),
            E::UnderWay { .. } => ("`steadfast progress` shows how it stands; Ctrl-C in its terminal pauses it"),
            E::Contested(_) => ("`steadfast progress` shows how it stands"),
            E::LoopNotFinished(_) =>
                ("`steadfast resume` goes on with it; `steadfast loop status` shows how it stands")
                ("`--fresh` puts it away, with what was done kept, and begins this one"),
            E::LoopUnderWay { .. } => ("`steadfast loop status` shows how it stands; Ctrl-C in its terminal pauses it"),
            E::NoRun(_) => ("it is worked on in a session; `steadfast loop next` says what is to be done there"),
            E::LoopInRun { .. } => ("`steadfast resume` goes on with it, reviews and gate among it"),
            E::NoBase => ("commit first, and `steadfast loop start --fresh`"),
            E::NoPlan => ("`steadfast loop next` says what is to be done now"),
            E::NoSpec { .. } =>
                ("write one yourself: `steadfast run --loop SPEC.md --fresh`; `steadfast resume` tries again"),
            E::SpecNotApproved { .. } => ("read it, and change it as you like; `steadfast resume` takes it as it is then"),
            E::NoReview { .. } => ("`steadfast resume` asks them again, in a session `steadfast loop review` does"),
            E::PutOff(_) => ("`steadfast loop review waive ID --why REASON` takes it as it is, `steadfast resume` goes on"),
            E::GateHeld { .. } =>
                ("see to it, and `steadfast resume` asks again")
                ("`steadfast loop status` lists the objections; `steadfast loop waive ID --why REASON` takes one as it is"),
            E::Capped { branch, .. } =>
                ("what was done is on {branch}, and was not called complete")
                ("`steadfast loop waive ID --why REASON` takes an objection as it is; `steadfast resume` goes on then"),
            E::BudgetSpent { .. } => ("`steadfast resume --budget USD` allows it more"),
            E::BranchGone(_) => ("it held what was done; `git reflog` may still know where it was"),
            E::Worktree(_) | E::NoTree => ("`steadfast doctor` looks at this repository"),
            E::Folder { .. } => ("make room there, or see to its permissions"),
            E::NotWritten { .. } => ("make room there, or see to its permissions; `steadfast resume` goes on"),
            E::Lease(_) | E::Circle(_) | E::Thread(_) | E::TakenOver | E::LoopLock { .. } =>,
        })
    }
}

impl From<NotReady> for CommandError {
    fn from(error: NotReady) -> Self {
        use NotReady as E;
        let said = Self::new(error.cause().into(), chain(&error));
        hints!(said, error, {
            E::NoRepository(_) => ("`git init`, and a first commit: agents work in worktrees, and what they did is merged"),
            E::NoCommit => ("commit something first: agents begin at the last commit"),
            E::Detached => ("`git switch BRANCH`, or `git switch --create BRANCH` to begin one here"),
            E::OldGit(_) => ("install git 2.38 or newer"),
            E::SubmoduleCommit { path, .. } => {
                let hint = format!("`git submodule update --init {path}` gets it"); said.hint(hint)
            },
            E::NotCommitted { .. } =>
                ("commit or stash them: agents begin at the last commit and would not see them")
                ("`--from-head` begins there all the same; your files stay as they are"),
            E::Git(_) => ("`steadfast doctor` looks at this repository"),
            E::NoProgram(_) => ("mount `/proc`, which says where it is"),
            E::NoHost { .. } => ("install it, or name another with `--host`"),
            E::NoHome => ("set `HOME`, or `run.worktrees` to a folder of yours"),
            E::NotWritable { .. } =>
                ("make room there, or see to its permissions; `run.worktrees` names another folder for worktrees"),
            E::NearlyFull(_) => ("make room there: worktrees and the ledger need it"),
        })
    }
}
