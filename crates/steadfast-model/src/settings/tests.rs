use super::*;
use crate::Mode;

#[test]
fn the_project_wins_over_the_user_and_each_value_knows_its_source() {
    let user = Options {
        stop: StopOptions { max_idle: Some(5), max_cycles: Some(9), ..StopOptions::default() },
        ..Options::default()
    };
    let project = Options {
        mode: ModeOptions { completion: Some(Mode::Advise), ..ModeOptions::default() },
        stop: StopOptions {
            max_cycles: Some(7),
            allow_exit_on: Some(vec![ExitOn::AllBlocked]),
            completion_promises: Some(vec!["SHIPPED \"v1\"".into()]),
            ..StopOptions::default()
        },
        ..Options::default()
    };
    let settings = Settings::default().combine(&user, Source::User).combine(&project, Source::Project);
    let seen = settings.lines();
    assert_eq!(
        seen,
        [
            ("mode.integrity", "\"enforce\"".to_owned(), Source::Default),
            ("mode.approval", "\"enforce\"".to_owned(), Source::Default),
            ("mode.constraint", "\"enforce\"".to_owned(), Source::Default),
            ("mode.drift", "\"advise\"".to_owned(), Source::Default),
            ("mode.completion", "\"advise\"".to_owned(), Source::Project),
            ("stop.enabled", "true".to_owned(), Source::Default),
            ("stop.check_ready_tasks", "true".to_owned(), Source::Default),
            ("stop.check_in_progress", "true".to_owned(), Source::Default),
            ("stop.max_cycles", "7".to_owned(), Source::Project),
            ("stop.max_idle", "5".to_owned(), Source::User),
            ("stop.allow_exit_on", "[\"all_blocked\"]".to_owned(), Source::Project),
            ("stop.completion_promises", "[\"SHIPPED \\\"v1\\\"\"]".to_owned(), Source::Project),
            ("approval.required", "false".to_owned(), Source::Default),
            ("approval.protected", "[\".tdd-progress.md\"]".to_owned(), Source::Default),
            (
                "approval.triggers",
                "[\"plan-mode\", \"agent:planner\", \"agent:steadfast-planner\", \"agent:tdd-planner\", \
                 \"command:tdd-plan\", \"command:steadfast-plan\", \"command:steadfast:plan\"]"
                    .to_owned(),
                Source::Default
            ),
            ("approval.scratch", "\".steadfast/scratch/\"".to_owned(), Source::Default),
            ("approval.possible", "\"watch\"".to_owned(), Source::Default),
            ("approval.expires_hours", "24".to_owned(), Source::Default),
            ("approval.profile", "\"default\"".to_owned(), Source::Default),
            ("approval.key", "\"\"".to_owned(), Source::Default),
            ("drift.scope", "[]".to_owned(), Source::Default),
            ("drift.never", "[]".to_owned(), Source::Default),
            ("drift.constraints", "[]".to_owned(), Source::Default),
            ("drift.quiet_below", "\"nudge\"".to_owned(), Source::Default),
            ("drift.refine", "\"\"".to_owned(), Source::Default),
            ("run.host", "\"\"".to_owned(), Source::Default),
            ("run.parallel", "3".to_owned(), Source::Default),
            ("run.iterations", "25".to_owned(), Source::Default),
            ("run.budget_usd", "25".to_owned(), Source::Default),
            ("run.tokens", "0".to_owned(), Source::Default),
            ("run.wall_time", "\"0s\"".to_owned(), Source::Default),
            ("run.unit_time", "\"1h\"".to_owned(), Source::Default),
            ("run.silence", "\"10m\"".to_owned(), Source::Default),
            ("run.proxy", "false".to_owned(), Source::Default),
            ("run.notify", "\"\"".to_owned(), Source::Default),
            ("run.permissions", "\"edit\"".to_owned(), Source::Default),
            ("run.arguments", "[]".to_owned(), Source::Default),
            ("run.worktrees", "\"\"".to_owned(), Source::Default),
            ("run.prices", "[]".to_owned(), Source::Default),
            ("loop.enabled", "false".to_owned(), Source::Default),
            ("loop.panel", "true".to_owned(), Source::Default),
            ("loop.light_reviews", "true".to_owned(), Source::Default),
            ("loop.expert_time", "\"10m\"".to_owned(), Source::Default),
            ("ledger.check_seconds", "1800".to_owned(), Source::Default),
            ("ledger.ui_skills", "[\"frontend-design\", \"vercel-design-guidelines\"]".to_owned(), Source::Default),
            ("ledger.source", "\"native\"".to_owned(), Source::Default),
            ("ledger.epic", "\"\"".to_owned(), Source::Default),
            ("ledger.task_list_id", "\"\"".to_owned(), Source::Default),
            ("ledger.path", "\"\"".to_owned(), Source::Default),
            ("proxy.mode", "\"observe\"".to_owned(), Source::Default),
            ("ui.verbosity", "\"normal\"".to_owned(), Source::Default),
            ("ui.notify", "\"\"".to_owned(), Source::Default),
            ("privacy.retain_days", "30".to_owned(), Source::Default),
        ]
    );
}

#[test]
fn what_is_as_by_default_is_not_carried_in_every_state() {
    assert_eq!((StopRules::default().exits, StopRules::default().promises), (None, None));
    let said_anew = StopOptions {
        allow_exit_on: Some(ExitOn::ALL.into_iter().rev().collect()),
        completion_promises: Some(StopRules::PROMISES.map(str::to_owned).to_vec()),
        ..StopOptions::default()
    };
    let options = Options { stop: said_anew, ..Options::default() };
    assert_eq!(Settings::default().combine(&options, Source::User).rules(), Rules::default());
}

#[test]
fn which_command_is_run_the_user_says_and_no_project() {
    let refine = |command: &str| {
        let drift = DriftOptions { refine: Some(command.into()), ..DriftOptions::default() };
        Options { drift, ..Options::default() }
    };
    let cloned = Settings::default().combine(&refine("theirs"), Source::Project);
    assert_eq!(cloned, Settings { ignored: vec![("drift.refine", Source::Project)], ..Settings::default() });
    assert_eq!(cloned.rules(), Rules::default());
    for source in [Source::User, Source::Local] {
        let own = Settings::default().combine(&refine("mine"), source).combine(&refine("theirs"), Source::ProjectYaml);
        assert_eq!(own.drift.refine, Sourced { value: "mine".to_owned(), source });
        assert!(own.rules().drift.refine);
    }
    assert!(!Settings::default().combine(&refine(" "), Source::User).rules().drift.refine);
}

#[test]
fn a_list_that_was_set_is_all_that_holds() {
    let rules = StopRules { exits: Some(vec![ExitOn::AllBlocked]), ..StopRules::default() };
    assert_eq!(ExitOn::ALL.map(|exit| rules.allows(exit)), [false, true, false, false]);
    let rules = StopRules { promises: Some(vec!["SHIPPED".into()]), ..StopRules::default() };
    assert_eq!(rules.promises().collect::<Vec<_>>(), ["SHIPPED"]);
    assert_eq!(StopRules::default().promises().collect::<Vec<_>>(), StopRules::PROMISES);
}

#[test]
fn an_empty_name_names_nothing() {
    let said = |epic: &str| LedgerOptions {
        source: Some(TaskSource::Beads),
        epic: Some(Some(epic.into())),
        ..LedgerOptions::default()
    };
    let user = Options { ledger: said(" bd-1 "), ..Options::default() };
    let project = Options { ledger: said(""), ..Options::default() };
    let settings = Settings::default().combine(&user, Source::User);
    assert_eq!(settings.ledger.epic.value.as_deref(), Some("bd-1"));
    let settings = settings.combine(&project, Source::Project);
    assert_eq!(settings.ledger.epic, Sourced { value: None, source: Source::Project });
    assert_eq!(settings.rules().tasks_from, TaskSource::Beads);
}

#[test]
fn what_is_run_and_what_agents_may_do_is_not_a_projects_to_say() {
    let run = RunOptions {
        notify: Some("theirs".into()),
        permissions: Some(Permissions::Free),
        arguments: Some(vec!["--theirs".into()]),
        proxy: Some(true),
        ..RunOptions::default()
    };
    let ui = UiOptions { notify: Some("theirs".into()), ..UiOptions::default() };
    let options = Options { run, ui, ..Options::default() };
    let users: Vec<_> = Settings::KEYS.iter().filter(|key| key.set_by == SetBy::UserOnly).map(|key| key.name).collect();
    assert_eq!(users, ["drift.refine", "run.proxy", "run.notify", "run.permissions", "run.arguments", "ui.notify"]);
    let ignored: Vec<_> = users[1..].iter().map(|key| (*key, Source::Project)).collect();
    let cloned = Settings::default().combine(&options, Source::Project);
    assert_eq!(cloned, Settings { ignored, ..Settings::default() });
    let own = Settings::default().combine(&options, Source::Local);
    assert_eq!((own.run.notify.value.as_str(), own.run.permissions.value), ("theirs", Permissions::Free));
    assert!(own.rules().notifies && !Settings::default().rules().notifies);
}

#[test]
fn every_key_says_which_values_it_accepts() {
    let expected = |name: &str| Settings::key(name).map(Key::expected);
    let said = |text: &str| Some(text.to_owned());
    assert_eq!(expected("mode.completion"), said("`observe` or `advise` or `enforce`"));
    assert_eq!(expected("stop.enabled"), said("`true` or `false`"));
    assert_eq!(expected("stop.max_idle"), said("a whole number from 0 to 4294967295"));
    assert_eq!(expected("run.parallel"), said("a whole number from 1 to 4294967295"));
    assert_eq!(expected("run.wall_time"), said("a text like `90s` or `10m` or `1h 30m`"));
    assert_eq!(expected("run.permissions"), said("`edit` or `free`"));
    assert_eq!(expected("stop.nothing"), None);
}
