//! The table of settings: a line per key with its section, name, type, default, description, who may set it and the flag
//! that overrides it. Options, settings, their merge, `config show`, the JSON schema and `docs/configuration.md` follow.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::{
    ApprovalRules, Budget, DriftRules, ExitOn, Iterations, Key, Period, Permissions, Possible, Price, Profile, SetBy,
    SettingValue, Source, Sourced, StopRules, TaskSource, Tokens, Usd,
};
use crate::{Host, Level, Mode};

/// Turns the table into types and functions. A key is `name: Type = default;`, with `only UserOnly` behind the default
/// where a project may not set it, and `flag "…"` where a command has a flag for it.
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

        /// Every option resolved.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct Settings {
            $(pub $section: $settings,)+
            /// Keys that a file sets and may not set, with the file.
            pub ignored: Vec<(&'static str, Source)>,
        }

        impl Settings {
            /// Every key, in the order of the table.
            pub const KEYS: &[Key] = &[$($(Key {
                name: concat!($title, ".", stringify!($key)),
                set_by: [$(SetBy::$by,)? SetBy::Anyone][0],
                flag: [$(Some($flag),)? None][0],
                expected: <$kind as SettingValue>::expected,
            },)+)+];

            /// Lays the options of one file over the settings so far. A list replaces the list before it.
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

            /// Every key with its value and source. Values are spelled so that TOML and JSON read them alike.
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
    /// How far each policy may go.
    ["mode"] mode: ModeOptions, ModeSettings {
        /// Protects Steadfast's own state, and refuses the commands that are for a human.
        integrity: Mode = Mode::Enforce;
        /// The plan gate: refuses to write protected files until a human approves the plan.
        approval: Mode = Mode::Enforce;
        /// Refuses what the human forbade in a prompt or with `steadfast goal forbid`.
        constraint: Mode = Mode::Enforce;
        /// The score: tells the agent when it leaves its work; with `enforce`, refuses at the fourth level.
        drift: Mode = Mode::Advise;
        /// The stop gate: refuses to end a turn while tasks are open.
        completion: Mode = Mode::Enforce;
    }

    /// When the agent may stop.
    ["stop"] stop: StopOptions, StopSettings {
        /// Whether Steadfast looks at stops at all.
        enabled: bool = true;
        /// Whether ready tasks hold the agent. With `false` only tasks in progress do.
        check_ready_tasks: bool = true;
        /// Whether tasks in progress hold the agent. With `false` only ready tasks do, and no subagent is held.
        check_in_progress: bool = true;
        /// How many stops Steadfast refuses between two prompts of the human. Finished tasks give some back.
        max_cycles: u32 = 50;
        /// How many stops in a row Steadfast refuses without a tool call in between. Claude Code overrides the ninth
        /// refusal in a row by itself; `8` or more needs `CLAUDE_CODE_STOP_HOOK_BLOCK_CAP`.
        max_idle: u32 = 3;
        /// What lets the agent stop before its refusals are used up.
        allow_exit_on: Vec<ExitOn> = ExitOn::ALL.to_vec();
        /// The texts between `<promise>` and `</promise>` that count as a promise. `BLOCKED - NEEDS USER` asks for the
        /// human and `CONTEXT LIMIT - CHECKPOINT` for a fresh session; Steadfast checks every other text against the
        /// tasks, as a promise of completion. A spec may add its own.
        completion_promises: Vec<String> = texts(&StopRules::PROMISES);
    }

    /// When a plan needs the approval of a human, and which files are protected until then.
    ["approval"] approval: ApprovalOptions, ApprovalSettings {
        /// Whether every plan that an agent loads needs an approval before its first task starts. With `false` only a
        /// plan that was drafted at a closed gate does.
        required: bool = false;
        /// The files that a closed gate protects, from the root of the checkout: files, folders with a `/` at the end,
        /// `*` and `?` within a part, `**` for any number of folders. The path of the draft is protected, too.
        protected: Vec<String> = texts(&[ApprovalRules::PROTECTED]);
        /// What closes the gate: `plan-mode`, `agent:NAME` (a subagent of that type, of any plugin, which may then only
        /// read), `command:NAME` (a slash command that the human types).
        triggers: Vec<String> = texts(&ApprovalRules::TRIGGERS);
        /// The folder that a planner may write to, from the root of the checkout.
        scratch: String = ApprovalRules::SCRATCH.to_owned();
        /// What happens to a command that may write a protected file, but need not: `watch` lets it run and restores
        /// the file, `ask` asks the human, `deny` refuses it. A planner is always refused.
        possible: Possible = Possible::Watch;
        /// After how many hours a gate that was closed in a terminal opens; `0`: never.
        expires_hours: u32 = ApprovalRules::EXPIRES_HOURS;
        /// How an approval is signed: `default` with a key of Steadfast in the user's own state, `hardened` by
        /// `ssh-keygen -Y sign` with the key named in `approval.key`, only in a terminal.
        profile: Profile = Profile::Default;
        /// The SSH key of the hardened profile, preferably one that asks for a touch or a passphrase.
        key: Option<String> = None;
    }

    /// Where the work of every session is, which files it never touches, and when the agent is told that it leaves it.
    ["drift"] drift: DriftOptions, DriftSettings {
        /// The paths that belong to every session's work, from the root of the checkout: files, folders with a `/` at the
        /// end, `*` and `?` within a part. They add to the human's words, the tasks and the work itself.
        scope: Vec<String> = Vec::new();
        /// The paths that no session writes, spelled as in `scope`. Steadfast refuses them like what a human forbids.
        never: Vec<String> = Vec::new();
        /// What every session is forbidden to do, each a sentence as a human would say it, like `don't commit`.
        constraints: Vec<String> = Vec::new();
        /// The mildest level at which the agent is told: `nudge`, `correct`, `intervene` or `halt`. Milder ones are only
        /// recorded.
        quiet_below: Level = DriftRules::QUIET_BELOW;
        /// A shell command that reads the human's request on its standard input and prints what else belongs to the work:
        /// `{"scope": [path], "keywords": [word]}`. Empty: none.
        refine: String = String::new(), only UserOnly;
    }

    /// How `steadfast run` works through a spec.
    ["run"] run: RunOptions, RunSettings {
        /// The agent that works. Empty: the one that is installed, `claude` if both are.
        host: Option<Host> = None, flag "--host";
        /// How many agents work at once.
        parallel: NonZeroU32 = NonZeroU32::MIN.saturating_add(2), flag "--parallel";
        /// How often a run starts an agent, all units together; `"none"`: no limit.
        iterations: Iterations = Iterations(25), flag "--max-iterations";
        /// How many US dollars a run may cost; `"none"` or `0`: no limit.
        budget_usd: Budget = Budget(Usd::dollars(25)), flag "--budget";
        /// How many tokens a run may use, cached ones included; `"none"` or `0`: no limit. For models without a known
        /// price.
        tokens: Tokens = Tokens(0);
        /// How long a run may take, like `8h`; `none` or `0s`: no limit.
        wall_time: Period = Period::default();
        /// How long an agent may work on a unit; `none` or `0s`: no limit.
        unit_time: Period = Period::seconds(3_600);
        /// How long an agent may print nothing; `none` or `0s`: no limit.
        silence: Period = Period::seconds(600);
        /// A command that Steadfast runs when it needs a human or all is done, with one line of text as the last
        /// argument. Empty: the terminal's own notification.
        notify: String = String::new(), only UserOnly;
        /// What agents may do without asking: `edit` files and run commands that the host lets pass, or everything
        /// (`free`; in a container or a virtual machine of its own).
        permissions: Permissions = Permissions::Edit, only UserOnly;
        /// Further arguments for the agent's program.
        arguments: Vec<String> = Vec::new(), only UserOnly;
        /// The folder for the worktrees of runs. Empty: `worktrees` in your own state.
        worktrees: String = String::new();
        /// What models cost, by name, if the built-in table is out of date.
        prices: BTreeMap<String, Price> = BTreeMap::new();
    }

    /// How a loop works: a run with a check of the request before it, reviews during it, and a gate after it.
    ["loop"] loops: LoopOptions, LoopSettings {
        /// Whether `steadfast run SPEC` is a loop without `--loop`, too.
        enabled: bool = false, flag "--loop";
        /// Whether experts look at a check that fails for the first time, and advise the next attempt.
        panel: bool = true;
        /// Whether experts look at each wave, for information.
        light_reviews: bool = true;
        /// How long an expert may take.
        expert_time: Period = Period::seconds(600);
    }

    /// Where tasks come from and how they are closed.
    ["ledger"] ledger: LedgerOptions, LedgerSettings {
        /// How many seconds a check may run before Steadfast ends it.
        check_seconds: u32 = 1_800;
        /// The skills an agent uses before it works on an interface (tasks of type `ui`), for plans that are loaded from
        /// now on. An empty list: such a task has no such step. A skill that neither the project, nor the user, nor a
        /// plugin has is left out, and `spec lint` and `plan load` say so.
        ui_skills: Vec<String> = texts(&["frontend-design", "vercel-design-guidelines"]);
        /// Where the tasks are kept. `native`: in Steadfast, as loaded plans and added tasks. Steadfast follows any other
        /// list as it changes and reports there what is done here; evidence, leases and history stay in Steadfast.
        /// `beads`: the issues that `bd` or `br` lists. `claude-tasks`: the task list of Claude Code. `tdd-progress`: the
        /// slices of `.tdd-progress.md`.
        source: TaskSource = TaskSource::Native;
        /// The epic of beads whose descendants are the tasks, like `bd-x7y8`. Empty: every issue.
        epic: Option<String> = None;
        /// The id of Claude Code's task list. Empty: the one the session works with.
        task_list_id: Option<String> = None;
        /// The file of `tdd-progress`, from the root of the checkout. Empty: `.tdd-progress.md`.
        path: Option<String> = None;
    }

    /// What Steadfast keeps, and for how long.
    ["privacy"] privacy: PrivacyOptions, PrivacySettings {
        /// How many days after its last event `steadfast clean` removes a session with its journal and its history. It
        /// keeps tasks, plans and evidence, and every session with an event within the last day.
        retain_days: u32 = 30, flag "--older-than";
    }
}
