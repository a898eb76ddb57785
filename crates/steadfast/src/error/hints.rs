//! The hints for the errors of the libraries: one table per error type, a row per variant.

use std::io::IsTerminal;

use steadfast_hook::EventError;
use steadfast_hosts::install::InstallError;
use steadfast_hosts::launch::BehindError;
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
            WorkError::Spec(SpecError::Broken { .. }) => said.hint("each problem above names its fix"),
            WorkError::Tracker { .. } => said
                .hint("Steadfast uses the tasks that it read last; `steadfast config show` prints where the list is"),
            WorkError::Repository(RepositoryError::NotSetUp { .. }) => {
                said.hint("`steadfast init` sets it up; it shows what it changes first")
            }
            WorkError::Repository(RepositoryError::EmptyPath) => {
                said.hint("give the path of a file or folder: `--file PATH`")
            }
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
            E::Locked { .. } => ("another `steadfast` process is writing; try again in a moment"),
            E::Damaged { path, .. } =>
                ("move `{}` away and run `steadfast status`, which creates a new ledger; sessions and journals stay, tasks \
                 must be added again", path.display()),
            E::ReadOnly { .. } =>
                ("if a sandbox makes `.git` read-only, use the tools of the MCP server `steadfast` (`task_done`, …)"),
            E::Unreachable { .. } | E::Failed { .. } =>
                ("check the path, its permissions and the disk; `steadfast doctor` reports details"),
            E::Older { .. } => ("run `steadfast status` where the repository is writable"),
            E::DuplicateTask { .. } => ("without `--id` a task gets the next free number"),
            E::Full { .. } => ("free some disk space and try again; nothing was lost"),
            E::UnknownPlan { .. } => ("`steadfast plan show` shows the plan of this worktree"),
            E::UnknownTask { .. } | E::UnknownDependency { .. } => ("`steadfast task list` shows all tasks"),
            E::TooLong { .. } | E::TooMany { .. } => {
                Self { kind: ErrorKind::Usage, ..said }
                .hint("put the whole text into a file and name the file; for a task: `--file PATH`")
            },
            E::LearningFiles { .. } => {
                Self { kind: ErrorKind::Usage, ..said }
                .hint("a folder covers all its files: `--file src/auth/`")
            },
            E::OpenLearnings { .. } =>
                ("a human reads them with `steadfast learn list`, and runs `steadfast learn confirm ID` or `steadfast \
                 learn dismiss ID`"),
            E::InRun { .. } | E::UnknownRun { .. } | E::UnknownUnit { .. } =>
                ("`steadfast progress` shows the run, `steadfast resume` continues it, `steadfast resume --give-up` ends it"),
            E::InLoop { .. } | E::UnknownLoop { .. } | E::LoopIsOver { .. } | E::StageSkipped { .. } =>
                ("`steadfast loop status` shows its status, `steadfast loop next` its next step"),
            E::UnknownFinding { .. } => ("`steadfast loop status` lists the reviews and their findings"),
            E::UnknownLearning { .. } => ("`steadfast learn list` shows the learnings with their ids"),
            E::IllegalMove { .. } => ("`steadfast task list` shows the status of every task"),
            _ =>,
        })
    }
}

impl From<EventError> for CommandError {
    fn from(error: EventError) -> Self {
        use EventError as E;
        let said = Self::failure(chain(&error));
        hints!(said, error, {
            E::Session(SessionError::Locked(_)) => ("a hook of this session is running; try again in a moment"),
            E::Session(SessionError::Newer { .. }) => ("update steadfast, or end that session"),
            E::Ledger(error) => { error.into() },
            E::Session(_) | E::Files { .. } | E::Claims(_) | E::Gate(_) | E::Grant(_) =>
                ("`steadfast doctor` checks the journals and their disk"),
        })
    }
}

impl From<ConfigError> for CommandError {
    fn from(error: ConfigError) -> Self {
        let hint = match &error {
            ConfigError::Unreadable { .. } => "make it a file that you can read, and try again",
            ConfigError::Invalid { .. } => "fix it; `steadfast config schema` lists every key with its valid values",
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
            SetupError::NoHome => ("set `HOME` to your home folder and try again"),
            SetupError::NoHost => ("`steadfast init --host claude` or `--host codex` sets up a host before it is installed"),
            SetupError::NotCreated { .. } | SetupError::NotBroughtBack { .. } =>
                ("nothing was changed; make the folder of the file writable and try again"),
            SetupError::NotPutAway { kept, .. } =>
                ("the hosts no longer call Steadfast; make `{}` replaceable and try again", kept.display()),
            SetupError::Rendered { folder, .. } =>
                ("check the permissions of `{}`, and move or delete it yourself", folder.display()),
            SetupError::Exclude { .. } =>
                ("the settings of the hosts are written; check that this file is writable and that the disk is not full, \
                 and try again"),
        })
    }
}

impl From<HistoryError> for CommandError {
    fn from(error: HistoryError) -> Self {
        let said = Self::failure(&error);
        hints!(said, error, {
            HistoryError::Ledger(error) => { error.into() },
            HistoryError::Ambiguous { .. } => ("give more characters of the id"),
            HistoryError::NoSession(_) => ("`steadfast status` lists the sessions"),
        })
    }
}

impl From<CleanError> for CommandError {
    fn from(error: CleanError) -> Self {
        match error {
            CleanError::Ledger(error) => error.into(),
            CleanError::Config(error) => error.into(),
            CleanError::Swept(_) | CleanError::File { .. } => {
                Self::failure(error).hint("run `steadfast clean` again to remove the rest, or delete this one yourself")
            }
        }
    }
}

impl From<ListingError> for CommandError {
    fn from(error: ListingError) -> Self {
        let said = Self::failure(&error);
        match error {
            ListingError::Unreadable { .. } | ListingError::NoneOf { .. } => {
                said.hint("give a transcript, or a folder of transcripts")
            }
            ListingError::NoneIn { .. } => {
                said.hint("names of transcripts end in `.jsonl`, or in `.jsonl.zst` if Codex compressed them")
            }
        }
    }
}

impl From<InstallError> for CommandError {
    fn from(error: InstallError) -> Self {
        Self::failure(chain(&error)).hint(install(&error))
    }
}

pub(super) fn install(error: &InstallError) -> String {
    match error {
        InstallError::Settings { path, .. }
        | InstallError::Encoding { path, .. }
        | InstallError::NotAFile { path }
        | InstallError::Read { path, .. } => format!("nothing was written; fix `{}` and try again", path.display()),
        InstallError::ReadOnly { path } => {
            format!("nothing was written; make `{}` writable and try again", path.display())
        }
        InstallError::Path { .. } => "nothing was written; move the program to a path that is valid UTF-8".into(),
        InstallError::Record { path, .. } => {
            format!(
                "nothing was written; move `{}` away and try again: Steadfast recognizes its hooks without it",
                path.display()
            )
        }
        InstallError::Changed { .. } | InstallError::Locked { .. } => "close the host and try again".into(),
        InstallError::Write { path, .. } => {
            format!("make `{}` a file that you can write, and try again", path.display())
        }
        InstallError::Undone { source, .. } => install(source),
    }
}

fn task(said: CommandError, error: &TaskError) -> CommandError {
    use TaskError as E;
    hints!(said, error, {
        E::NoTitle => ("`steadfast task add TITLE`, with the task in one line"),
        E::EmptyNote => ("`steadfast task note ID TEXT`"),
        E::NoReason => ("`steadfast task block ID --why REASON`, with what a human must do"),
        E::NoTasks => ("`steadfast task add TITLE` adds one"),
        E::InRun { .. } =>
            ("`steadfast progress` shows the run, `steadfast resume` continues it, `steadfast resume --give-up` ends it"),
        E::Blocked(id) => ("a human runs `steadfast task unblock {id}`"),
        E::NotBlocked { .. } => ("`steadfast task list` shows the status of every task"),
        E::InsideCheck { .. } | E::ChecksInsideCheck { .. } =>
            ("remove it from the check: a check only finds out whether a task is done"),
        E::Leased { .. } => ("`steadfast task next` shows a task that no other session works on"),
        E::Waits { .. } => ("`steadfast task next` shows a task that can start now"),
        E::ForcedByAgent(_) => ("`steadfast task block ID --why REASON` leaves it to a human"),
        E::AcceptedByAgent(id) => ("a human runs `steadfast task done {id} --accept-check`"),
        E::CheckChanged { task, .. } =>
            ("restore the check, or a human accepts it: `steadfast task done {task} --accept-check`"),
        E::NoCheckRuns(id) => ("`steadfast task done {id}` starts it"),
        E::NoCommand(id) => ("`steadfast task done {id}` looks at its proof"),
        E::NoArtifact(id) => ("`steadfast task done {id} --artifact FILE`, a screenshot taken after the change"),
        E::Undefined { .. } => ("fix that and try again: Steadfast runs a check only if it knows what the check runs"),
        E::NotStarted { .. } => ("`steadfast doctor` checks the state it needs"),
        E::StatedNotStarted { .. } | E::StatedLost { .. } => ("`steadfast doctor` checks this machine"),
        E::NotSeen { task, .. } | E::CheckLost { task, .. } => ("`steadfast task done {task}` runs the check again"),
        E::DiskFull { .. } => ("free disk space there and try again"),
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
            ("`steadfast plan propose {file}` stores it for a human, whose approval opens the gate")
            ("`steadfast plan status` shows its status"),
        E::GateClosed { source_file: None, .. } => ("`steadfast plan status` shows its status"),
        E::NotTheDraft { path, .. } =>
            ("`steadfast plan propose {path}` stores it for a human to approve; or a human loads it"),
        E::Changed { path, .. } => ("a human runs `steadfast plan load {path}`; unchanged tasks keep their status"),
        E::SkillsGone { path, .. } => ("a human runs `steadfast plan load {path}`, which leaves out these skills"),
        E::NothingTracked(_) => ("`ledger.epic` names the epic to load; without it, every issue is a task"),
        E::NothingOpen(_) => ("`steadfast task list` shows its tasks"),
        E::NotArchived { .. } => ("move the file away yourself: the plan is archived and no longer writes it"),
        E::NotKept(_) =>
            ("if a sandbox makes `.git` read-only, use the tool `plan_propose` of the MCP server `steadfast`"),
        E::NoPlace { .. } => ("give a file in this checkout: `--path docs/plan.md`"),
        E::NameNotText(_) => ("give another path for the plan: `--path docs/plan.md`"),
        E::SeveralDrafts(drafts) => {
            let line = |DraftName { short, title }: &DraftName| format!("`{short}`: {title}");
            drafts.iter().map(line).fold(said, CommandError::hint)
        },
        E::NoDraft => ("`steadfast plan propose FILE` stores a draft; `steadfast plan status` shows the plan"),
        E::UnknownDraft { waiting, .. } if waiting.is_empty() => ("`steadfast plan propose FILE` stores a draft"),
        E::UnknownDraft { waiting, .. } => {
            let line = |DraftName { short, title }: &DraftName| format!("`{short}` awaits approval: {title}");
            waiting.iter().map(line).fold(said, CommandError::hint)
        },
        E::DraftChanged { .. } => ("`steadfast plan propose FILE` proposes it again"),
        E::NoTime => ("`steadfast plan load FILE` takes the time"),
    })
}

fn approval(said: CommandError, error: &ApprovalError) -> CommandError {
    use ApprovalError as E;
    hints!(said, error, {
        E::Missing { draft: Some(short), .. } =>
            ("a human runs `steadfast plan approve {short}`, or sends the message `approve plan {short}`"),
        E::Missing { file: Some(file), .. } =>
            ("a human runs `steadfast plan load {file}`; or `steadfast plan propose {file}` stores it for a human to approve"),
        E::Missing { .. } => ("`steadfast plan propose FILE` stores a plan for a human to approve"),
        E::Elsewhere { .. } => ("run `steadfast plan propose FILE` here, or approve it there"),
        E::OtherDraft { short } => ("reject that draft first: `steadfast plan reject {short}`"),
        E::NoHome => ("set `HOME` to your home folder and try again"),
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
            "the approval is signed, but the gate stays closed; make `{}` a file that you can write, and try again",
            path.display()
        )),
        GrantError::Seal(_) | GrantError::Gate(_) => said.hint(
            "the plan is signed and written; check the disk and try again: Steadfast repeats only the missing steps",
        ),
        GrantError::Outside(_) => {
            nothing().hint("`steadfast plan propose FILE --path PATH` proposes it for another path")
        }
        GrantError::OtherDraft(_) => nothing().hint("`steadfast plan propose FILE` proposes it again"),
        GrantError::NoDraft(_) | GrantError::Terminal(_) | GrantError::NoUserState => {
            nothing().hint("`steadfast plan status` shows the plan")
        }
    }
}

fn signing(error: &SigningError) -> CommandError {
    let said = CommandError::failure(format!("nothing is approved: {}", chain(error)));
    hints!(said, error, {
        SigningError::Key { path, .. } =>
            ("check `{}`; if the key is lost, move the file away: Steadfast creates a new key, and its old approvals \
             must be given again", path.display()),
        SigningError::Ssh(_) => ("check the key that `approval.key` names: `ssh-keygen -Y sign` must be able to use it"),
        SigningError::Record(_) => ("check the disk and the permissions of the state folder, and try again"),
    })
}

fn gate(said: CommandError, error: &GateError) -> CommandError {
    match error {
        GateError::NotClosed(_) => said.hint(
            "if a sandbox makes `.git` read-only, use the tool `plan_propose` of the MCP server `steadfast`; else check the \
             disk and its permissions",
        ),
        GateError::NotOpened { folder, .. } => said.hint(format!(
            "make the files in `{}` removable and try again: Steadfast repeats only the missing steps",
            folder.display()
        )),
    }
}

fn decision(said: CommandError, error: &DecisionError) -> CommandError {
    hints!(said, error, {
        DecisionError::Empty => ("`steadfast decide TEXT --why REASON` records it for later sessions"),
        DecisionError::Unreadable { .. } => ("move the file away: Steadfast writes a new one if it is missing"),
        DecisionError::NotWritten { .. } | DecisionError::NotMoved { .. } =>,
    })
}

fn of_loop(said: CommandError, error: &LoopError) -> CommandError {
    use LoopError as E;
    hints!(said, error, {
        E::None => ("`steadfast loop start \"REQUEST\"` starts one from a sentence, `steadfast loop start SPEC.md` from a spec"),
        E::OutOfOrder { from, .. } => {
            let next = from.next().map_or("none", steadfast_model::Stage::as_str);
            said.hint(format!("the next stage is {next}; `steadfast loop next` shows what it needs"))
        },
        E::Unclear { .. } =>
            ("run `steadfast loop start TEXT` with a clearer request; `steadfast loop score TEXT` shows what is missing")
            ("a human accepts the request with `steadfast loop override --why REASON`"),
        E::NoShape => ("`steadfast loop shape SPEC.md` records the criteria, must-nots and verification of a spec"),
        E::NothingOpen => ("`steadfast task add TITLE` adds a task for a finding"),
        E::OpenTasks { .. } => ("`steadfast task next` shows the next one"),
        E::NotByWord => ("`steadfast loop gate` checks tasks, evidence, reviews and must-nots, and completes the loop"),
        E::Moved => ("`steadfast loop status` shows its stage"),
        E::NoPlan { spec } => {
            let spec = spec.as_deref().unwrap_or("SPEC.md");
            said.hint(format!("`steadfast plan load {spec}` loads the tasks of a spec"))
        },
        E::NoFile(_) => ("give the request as a sentence in quotes, or the file of a spec"),
        E::EmptyRequest => ("`steadfast loop start \"REQUEST\"`, or `steadfast loop start SPEC.md`"),
        E::LimitReached { .. } | E::RaisedByAgent =>
            ("a human raises the limit in a terminal: `steadfast loop start --resume --max-iterations N --budget USD`; \
             `none` means no limit"),
    })
}

impl From<RunError> for CommandError {
    fn from(error: RunError) -> Self {
        use RunError as E;
        let said = Self::new(error.cause().into(), chain(&error));
        hints!(said, error, {
            E::Work(error) => { error.into() },
            E::Ledger(error @ LedgerError::UnknownRun { .. }) => {
                Self::failure(error).hint("without `--run`, the command uses the newest unfinished run of this worktree")
            },
            E::Ledger(error) => { error.into() },
            E::NotReady(error) => { error.into() },
            E::NotClear(begun) => { not_clear(&begun, std::io::stdin().is_terminal()) },
            E::Halted { .. } => ("finished work is kept; fix the cause and run `steadfast resume`"),
            E::Paused { why, .. } => {
                let command = resume_after(&why);
                said.hint(format!("`{command}` continues the run; `steadfast progress` shows its status"))
            },
            E::NeedsReview { branch, .. } =>
                ("the work is on {branch}")
                ("`steadfast task done ID --force` confirms a task, `steadfast task start ID` reopens it"),
            E::NotOver { .. } =>
                ("`steadfast resume` continues it; `steadfast resume --give-up` ends it and keeps its branch"),
            E::UnderWay { .. } => ("`steadfast progress` shows its status; Ctrl-C in its terminal pauses it"),
            E::Contested(_) => ("`steadfast progress` shows its status"),
            E::LoopNotFinished(_) =>
                ("`steadfast resume` continues it; `steadfast loop status` shows its status")
                ("`--fresh` archives it, keeps its work, and starts the new one"),
            E::LoopUnderWay { .. } => ("`steadfast loop status` shows its status; Ctrl-C in its terminal pauses it"),
            E::NoRun(_) => ("a session works on it; `steadfast loop next` shows the next step there"),
            E::LoopInRun { .. } => ("`steadfast resume` continues the run with its reviews and its gate"),
            E::NoBase => ("commit first, then run `steadfast loop start --fresh`"),
            E::NoPlan => ("`steadfast loop next` shows the next step"),
            E::NoSpec { .. } =>
                ("write one yourself: `steadfast run --loop SPEC.md --fresh`; `steadfast resume` tries again"),
            E::SpecNotApproved { .. } => ("read it and edit it if needed; `steadfast resume` approves it as it is then"),
            E::NoReview { .. } => ("`steadfast resume` asks the reviewers again; in a session: `steadfast loop review`"),
            E::PutOff(_) => ("waive it with `steadfast loop review waive ID --why REASON`, then run `steadfast resume`"),
            E::GateHeld { .. } =>
                ("fix the objections, then run `steadfast resume`")
                ("`steadfast loop status` lists them; `steadfast loop waive ID --why REASON` waives one"),
            E::Capped { branch, .. } =>
                ("the work is on {branch}; the loop is not complete")
                ("waive an objection with `steadfast loop waive ID --why REASON`, then run `steadfast resume`"),
            E::BudgetSpent { .. } => ("`steadfast resume --budget USD` raises the limit"),
            E::BranchGone(_) => ("the branch had the work; `git reflog` may still list its last commit"),
            E::Worktree(_) | E::NoTree => ("`steadfast doctor` checks this repository"),
            E::Folder { .. } => ("free disk space there, or fix its permissions"),
            E::NotWritten { .. } => ("free disk space there or fix its permissions, then run `steadfast resume`"),
            E::Lease(_) | E::Circle(_) | E::Thread(_) | E::TakenOver | E::LoopLock { .. } =>,
        })
    }
}

impl From<NotReady> for CommandError {
    fn from(error: NotReady) -> Self {
        use NotReady as E;
        let said = Self::new(error.cause().into(), chain(&error));
        hints!(said, error, {
            E::NoRepository(_) => ("run `git init` and commit: agents work in git worktrees, and Steadfast merges their work"),
            E::NoCommit => ("commit something first: agents start from the last commit"),
            E::Detached => ("`git switch BRANCH`, or `git switch --create BRANCH` for a new one"),
            E::OldGit(_) => ("install git 2.38 or newer"),
            E::SubmoduleCommit { path, .. } => {
                let hint = format!("`git submodule update --init {path}` fetches it"); said.hint(hint)
            },
            E::NotCommitted { .. } =>
                ("commit or stash them: agents start from the last commit and would not see them")
                ("`--from-head` starts from the last commit anyway; your files stay as they are"),
            E::Git(_) => ("`steadfast doctor` checks this repository"),
            E::NoProgram(_) => ("mount `/proc`: Steadfast reads the path of its program there"),
            E::NoHost { .. } => ("install it, or choose another host with `--host`"),
            E::NoHome => ("set `HOME`, or set `run.worktrees` to a folder that you can write"),
            E::NotWritable { .. } =>
                ("free disk space there or fix its permissions, or set `run.worktrees` to another folder"),
            E::NearlyFull(_) => ("free disk space there: worktrees and the ledger need it"),
            E::Behind(BehindError::UnknownLogin) =>
                ("`codex login status` shows the login; `steadfast run --no-proxy` starts the agents without proxies"),
            E::Behind(error) => {
                CommandError::from(error).hint("`steadfast run --no-proxy` starts the agents without proxies")
            },
            E::Config(error) => { error.into() },
        })
    }
}
