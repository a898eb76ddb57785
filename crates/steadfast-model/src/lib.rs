//! The nouns of Steadfast: plain data without files, clock or processes.
//!
//! An [`Event`] arrives from a host. The engine decides with the session's [`State`] and the [`Facts`] about the world.
//! It returns a [`Verdict`] for the host, [`Change`]s of the state and [`Effect`]s to carry out. Tasks, evidence, loops
//! and runs are the nouns of the ledger; [`Settings`] are the configuration.
//!
//! Start with `event.rs`, `verdict.rs` and `state.rs`. Decisions are in `steadfast-engine`, storage is in
//! `steadfast-store`.

mod authority;
mod drift;
mod effect;
mod event;
mod facts;
mod gate;
mod goal;
mod host;
mod host_list;
mod id;
mod label;
mod ledger;
mod policy;
mod record;
mod settings;
mod sparse;
mod state;
mod verdict;
mod watch;

pub use authority::{Authority, allowed_commands, commands, commands_allowed_as_tools, human_command, human_commands};
pub use drift::{
    Attempt, Batch, Course, Drift, DriftChange, Level, Places, Score, Severity, Step, StepKind, Tally, WordFilter,
};
pub use effect::{Claim, Effect};
pub use event::content::{Content, Replaced, hashed_word, hashed_words};
pub use event::tool::{Action, DialogAnswer, Outcome, ToolCall, ToolResult};
pub use event::{
    Agent, BackgroundTask, BindingWord, Event, EventKind, EventName, Forged, ForgedBy, PromptOrigin, StartSource,
    Stopping, TaskChanged,
};
pub use facts::{
    Brief, Checking, Counts, Current, Fact, Facts, Liveness, Needs, Neighbours, NewRules, OwnerEnd, PathLink, PlanView,
    RemovedFile, SpecChange, TakingBack, WiredFile,
};
pub use gate::{
    Approval, Channel, DraftLine, Gate, GateScope, Opening, SealBreak, SealCause, SealChange, Trigger, Waiting,
};
pub use goal::{Constraint, ConstraintKind, Goal, GoalWord, NamedPath};
pub use host::{Host, Via, Vias};
pub use host_list::{HostList, ItemTold, ListCall, ListChange, ListDiff, ListEdit, ListItem, ListStatus, Listed};
pub use id::{AgentId, LoopId, Millis, PlanId, RunId, SessionId, TaskId, ToolUseId, fnv};
pub use label::UnknownName;
pub use ledger::check::{Check, StatedCheck};
pub use ledger::evidence::{CheckEnd, Evidence, EvidenceClass};
pub use ledger::loops::{
    Autonomy, Finding, FindingSeverity, Loop, LoopEnd, LoopLimits, LoopView, Objected, Resolution, Review, ReviewKind,
    Scores, Shape, Stage, Waiver,
};
pub use ledger::plan::{Phase, Plan, PlannedTask, Reported, is_link};
pub use ledger::proof::{DoneHere, EvidenceSubject, Freshness, OnBranch, SeenFile, TaskLines, freshness};
pub use ledger::run::{Dispatch, Limits, Process, Run, RunState, RunUnit, RunView, Spent, Sums, UnitStatus, WorkSpan};
pub use ledger::task::{AddedBy, Status, Task, TaskKind, TaskLine, TaskType};
pub use policy::{Direction, Mode, PolicyName};
pub use record::{Entry, PolicyOpinion, Record};
pub use settings::{
    ApprovalOptions, ApprovalRules, ApprovalSettings, Budget, DriftOptions, DriftRules, DriftSettings, ExitOn,
    InvalidPeriod, Iterations, Key, LedgerOptions, LedgerSettings, LoopOptions, LoopSettings, ModeOptions,
    ModeSettings, Options, Period, Permissions, Possible, Price, PrivacyOptions, PrivacySettings, Profile, ProxyMode,
    ProxyOptions, ProxySettings, Rules, RunOptions, RunSettings, SetBy, SettingValue, Settings, Source, Sourced,
    StopOptions, StopRules, StopSettings, TaskSource, Tokens, UiOptions, UiSettings, Usd, Verbosity,
};
pub use state::{
    AgentCall, Binding, BindingChange, Change, ForgedSeen, GateState, LastStop, LastWrite, Leased, Offered, Release,
    Released, STATE_VERSION, Seen, State, StopCount, SubagentTasks, TaskFile, WiringTold,
};
pub use verdict::{Answer, Question, Ruling, Verdict};
pub use watch::{GitAlias, Marks, Watched};
