//! The table of settings: one line per key with its section, name, type, default, description, who may set it, and its
//! flag. Options, settings, their merge, `config show`, the JSON schema and `docs/configuration.md` are derived from
//! it.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::{
    ApprovalRules, Budget, DriftRules, ExitOn, Iterations, Key, Period, Permissions, Possible, Price, Profile,
    ProxyMode, SetBy, SettingValue, Source, Sourced, StopRules, TaskSource, Tokens, Usd, Verbosity,
};
use crate::{Host, Level, Mode};

/// Turns the table into types and functions. A key is `name: Type = default;`. After the default, `only UserOnly` means
/// that a project may not set it, and `flag "…"` names the command-line flag for it.
macro_rules! settings {
    ($(
        $(#[$about:meta])*
        [$title:literal] $section:ident: $options:ident, $settings:ident {
            $($(#[$doc:meta])* $key:ident: $kind:ty = $default:expr $(, only $by:ident)? $(, flag $flag:literal)?;)+
        }
    )+) => {
        /// The content of a `steadfast.toml`. Every key has a default.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(deny_unknown_fields, default)]
        pub struct Options {
            $(#[serde(rename = $title)] pub $section: $options,)+
        }

        /// Every option with its final value.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct Settings {
            $(pub $section: $settings,)+
            /// Keys that a file may not set, with the file that set them.
            pub ignored: Vec<(&'static str, Source)>,
        }

        impl Settings {
            pub const KEYS: &[Key] = &[$($(Key {
                name: concat!($title, ".", stringify!($key)),
                set_by: [$(SetBy::$by,)? SetBy::Anyone][0],
                flag: [$(Some($flag),)? None][0],
                expected: <$kind as SettingValue>::expected,
            },)+)+];

            /// Applies the options of one file to the settings so far. A list replaces the earlier list.
            #[must_use]
            pub fn combine(mut self, options: &Options, source: Source) -> Self {
                $($(if let Some(value) = &options.$section.$key {
                    match [$(SetBy::$by,)? SetBy::Anyone][0] {
                        SetBy::UserOnly if !source.is_the_users() => {
                            self.ignored.push((concat!($title, ".", stringify!($key)), source));
                        }
                        _ => self.$section.$key = Sourced { value: value.clone().tidied(), source },
                    }
                })+)+
                self
            }

            /// Returns every key with its value and source. TOML and JSON read the spelling of the values alike.
            pub fn lines(&self) -> Vec<(&'static str, String, Source)> {
                let values = [$($((self.$section.$key.value.spell(), self.$section.$key.source),)+)+];
                Self::KEYS.iter().zip(values).map(|(key, (value, source))| (key.name, value, source)).collect()
            }
        }

        $(
            $(#[$about])*
            #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
            #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
            #[serde(deny_unknown_fields, default)]
            pub struct $options {
                $($(#[$doc])* #[serde(skip_serializing_if = "Option::is_none")] pub $key: Option<$kind>,)+
            }

            $(#[$about])*
            #[derive(Clone, Debug, PartialEq, Eq)]
            pub struct $settings {
                $($(#[$doc])* pub $key: Sourced<$kind>,)+
            }

            impl Default for $settings {
                fn default() -> Self {
                    Self { $($key: Sourced { value: $default, source: Source::Default },)+ }
                }
            }
        )+
    };
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

settings! {
    /// The strength of each policy: `observe` only records, `advise` never refuses, `enforce` refuses.
    ["mode"] mode: ModeOptions, ModeSettings {
        /// Protects Steadfast's own state, and refuses the commands that only a human may run.
        integrity: Mode = Mode::Enforce;
        /// The plan gate: refuses to write protected files until a human approves the plan.
        approval: Mode = Mode::Enforce;
        /// Refuses what the human forbade in a prompt or with `steadfast goal forbid`.
        constraint: Mode = Mode::Enforce;
        /// The drift score: tells the agent when it leaves its work. With `enforce`, refuses at the level `halt`.
        drift: Mode = Mode::Advise;
        /// The stop gate: refuses to end a turn while tasks are open.
        completion: Mode = Mode::Enforce;
    }

    /// The stop gate: when the agent may stop.
    ["stop"] stop: StopOptions, StopSettings {
        /// Turns the stop gate on. With `false`, the agent may always stop.
        enabled: bool = true;
        /// Blocks stops while tasks are ready. With `false`, only tasks in progress block a stop.
        check_ready_tasks: bool = true;
        /// Blocks stops while tasks are in progress. With `false`, only ready tasks block a stop, and subagents may
        /// always stop.
        check_in_progress: bool = true;
        /// The number of stops that Steadfast refuses between two prompts of the human. Finished tasks give some back.
        max_cycles: u32 = 50;
        /// The number of stops in a row that Steadfast refuses without a tool call in between. Claude Code itself
        /// overrides the ninth refusal in a row; `8` or more requires `CLAUDE_CODE_STOP_HOOK_BLOCK_CAP`.
        max_idle: u32 = 3;
        /// The reasons that let the agent stop before the refusals are used up.
        allow_exit_on: Vec<ExitOn> = ExitOn::ALL.to_vec();
        /// The texts between `<promise>` and `</promise>` that count as a promise. `BLOCKED - NEEDS USER` asks for the
        /// human and `CONTEXT LIMIT - CHECKPOINT` for a fresh session; Steadfast checks every other text against the
        /// tasks, as a promise of completion. A spec may add its own.
        completion_promises: Vec<String> = texts(&StopRules::PROMISES);
    }

    /// The plan gate: when a plan needs the approval of a human, and which files are protected until then.
    ["approval"] approval: ApprovalOptions, ApprovalSettings {
        /// Requires an approval for every plan that an agent loads, before its first task starts. With `false`, only a
        /// plan that was drafted at a closed gate needs one.
        required: bool = false;
        /// The files that a closed gate protects, from the root of the checkout: files, folders with a `/` at the end,
        /// `*` and `?` within a part, `**` for any number of folders. The path of the draft is protected, too.
        protected: Vec<String> = texts(&[ApprovalRules::PROTECTED]);
        /// The events that close the gate: `plan-mode`, `agent:NAME` (a subagent of that type, of any plugin, which may
        /// then only read), `command:NAME` (a slash command that the human types).
        triggers: Vec<String> = texts(&ApprovalRules::TRIGGERS);
        /// The folder that a planner may write to, from the root of the checkout.
        scratch: String = ApprovalRules::SCRATCH.to_owned();
        /// Steadfast's answer to a command that may write a protected file, but need not: `watch` lets it run and
        /// restores the file, `ask` asks the human, `deny` refuses it. A planner is always refused.
        possible: Possible = Possible::Watch;
        /// The number of hours after which a gate that was closed in a terminal opens by itself. `0`: never.
        expires_hours: u32 = ApprovalRules::EXPIRES_HOURS;
        /// The way an approval is signed: `default` with a key of Steadfast in the user's own state, `hardened` by
        /// `ssh-keygen -Y sign` with the key named in `approval.key`, only in a terminal.
        profile: Profile = Profile::Default;
        /// The SSH key of the hardened profile, preferably one that asks for a touch or a passphrase.
        key: Option<String> = None;
    }

    /// The places of every session's work, the files that no session writes, and the level at which the agent is
    /// corrected.
    ["drift"] drift: DriftOptions, DriftSettings {
        /// The paths that belong to every session's work, from the root of the checkout: files, folders with a `/` at
        /// the end, `*` and `?` within a part. They add to the paths from the human's words, the tasks and the work
        /// itself.
        scope: Vec<String> = Vec::new();
        /// The paths that no session may write, spelled as in `scope`. Steadfast refuses writes to them like any action
        /// that a human forbids.
        never: Vec<String> = Vec::new();
        /// The actions that every session is forbidden, each a sentence as a human would say it, like `don't commit`.
        constraints: Vec<String> = Vec::new();
        /// The lowest level that the agent sees: `nudge`, `correct`, `intervene` or `halt`. Steadfast only records the
        /// levels below it.
        quiet_below: Level = DriftRules::QUIET_BELOW;
        /// A shell command that reads the human's request on its standard input and prints additions to the scope:
        /// `{"scope": [path], "keywords": [word]}`. Empty: none.
        refine: String = String::new(), only UserOnly;
    }

    /// Runs: how `steadfast run` works through a spec.
    ["run"] run: RunOptions, RunSettings {
        /// The agent program. Empty: the installed one, or `claude` if both are installed.
        host: Option<Host> = None, flag "--host";
        /// The number of agents that work at once.
        parallel: NonZeroU32 = NonZeroU32::MIN.saturating_add(2), flag "--parallel";
        /// The number of agents that a run may start, all units together. `"none"`: no limit.
        iterations: Iterations = Iterations(25), flag "--max-iterations";
        /// The US dollars that a run may cost. `"none"` or `0`: no limit.
        budget_usd: Budget = Budget(Usd::dollars(25)), flag "--budget";
        /// The tokens that a run may use, including cached ones. `"none"` or `0`: no limit. Use it for models without a
        /// known price.
        tokens: Tokens = Tokens(0);
        /// The time that a run may take, like `8h`. `none` or `0s`: no limit.
        wall_time: Period = Period::default();
        /// The time that an agent may work on a unit. `none` or `0s`: no limit.
        unit_time: Period = Period::seconds(3_600);
        /// The time that an agent may print nothing. `none` or `0s`: no limit.
        silence: Period = Period::seconds(600);
        /// Starts every agent behind a proxy of its own. The cost is then exact, and the run exceeds its budget by the
        /// answers under way at most.
        proxy: bool = false, only UserOnly, flag "--proxy";
        /// The old name of `ui.notify`. It applies where `ui.notify` is empty.
        notify: String = String::new(), only UserOnly;
        /// The actions that agents may take without asking: `edit` files and run commands that the host allows, or
        /// everything (`free`; use it only in a container or a virtual machine).
        permissions: Permissions = Permissions::Edit, only UserOnly;
        /// Additional arguments for the agent program.
        arguments: Vec<String> = Vec::new(), only UserOnly;
        /// The folder for the worktrees of runs. Empty: `worktrees` in your own state.
        worktrees: String = String::new();
        /// The prices of models, by name, where the built-in table is out of date.
        prices: BTreeMap<String, Price> = BTreeMap::new();
    }

    /// Loops: a loop is a run with a check of the request before it, reviews during it, and a gate after it.
    ["loop"] loops: LoopOptions, LoopSettings {
        /// Makes `steadfast run SPEC` a loop, as `--loop` does.
        enabled: bool = false, flag "--loop";
        /// Asks experts about a check that fails for the first time. Their advice goes to the next attempt.
        panel: bool = true;
        /// Asks experts to review each wave, for information only.
        light_reviews: bool = true;
        /// The time that an expert may take.
        expert_time: Period = Period::seconds(600);
    }

    /// Tasks: their source, and how they are closed.
    ["ledger"] ledger: LedgerOptions, LedgerSettings {
        /// The number of seconds that a check may run before Steadfast ends it.
        check_seconds: u32 = 1_800;
        /// The skills that an agent uses before it works on an interface (tasks of type `ui`), for plans loaded from
        /// now on. With an empty list, such tasks have no such step. Steadfast leaves out a skill that neither the
        /// project, the user nor a plugin has; `spec lint` and `plan load` report it.
        ui_skills: Vec<String> = texts(&["frontend-design", "vercel-design-guidelines"]);
        /// The source of the tasks. `native`: plans and added tasks in Steadfast. `beads`: the issues that `bd` or `br`
        /// lists. `claude-tasks`: the task list of Claude Code. `tdd-progress`: the slices of `.tdd-progress.md`.
        /// Steadfast follows the changes of an external list and reports its results there. Evidence, leases and
        /// history always stay in Steadfast.
        source: TaskSource = TaskSource::Native;
        /// The beads epic whose descendants are the tasks, like `bd-x7y8`. Empty: every issue.
        epic: Option<String> = None;
        /// The id of Claude Code's task list. Empty: the one that the session uses.
        task_list_id: Option<String> = None;
        /// The file of `tdd-progress`, from the root of the checkout. Empty: `.tdd-progress.md`.
        path: Option<String> = None;
    }

    /// The proxy between an agent and its model.
    ["proxy"] proxy: ProxyOptions, ProxySettings {
        /// The effect of the rules behind the proxy, if the host of the agent does not call its hooks.
        /// `observe`: verdicts are recorded. `advise`: corrections are added to the results of calls. `enforce`: calls
        /// are refused, too, and the mode of each policy holds.
        mode: ProxyMode = ProxyMode::Observe, flag "--mode";
    }

    /// What Steadfast shows to you.
    ["ui"] ui: UiOptions, UiSettings {
        /// What you read in the host while a session works. `quiet`: only what needs you. `normal`: also one line when a
        /// session starts with open tasks, at a refused stop, at the first correction of each level, at a refused call,
        /// and when the plan gate closes or opens; the same line is not repeated before your next prompt. `detailed`:
        /// every refusal, with its number and its whole reason.
        verbosity: Verbosity = Verbosity::Normal;
        /// How Steadfast tells you that a session or a run needs you. `terminal`: the bell, and the notification of the
        /// terminal (OSC 9 and OSC 777). `notify-send`: the desktop. `none`: nothing. Any other text is a shell command
        /// that gets one line as its last argument. Empty: a run at a terminal notifies there, a session does not.
        notify: String = String::new(), only UserOnly;
    }

    /// The data that Steadfast stores, and for how long.
    ["privacy"] privacy: PrivacyOptions, PrivacySettings {
        /// `steadfast clean` removes a session, with its journal and its history, this number of days after its last
        /// event. Tasks, plans and evidence stay, and so does every session with an event within the last day.
        retain_days: u32 = 30, flag "--older-than";
    }
}
