use steadfast_model::BackgroundTask;

use super::*;

const WAITS: &str = "Half of it is there.\n<promise>WAITING: for the build</promise>";

fn task(what: &str, status: &str, command: Option<&str>) -> BackgroundTask {
    BackgroundTask { what: what.into(), status: status.into(), command: command.map(str::to_owned) }
}

fn with(message: &str, background: Vec<BackgroundTask>) -> Event {
    let mut event = saying(message);
    let EventKind::Stop(stopping) = &mut event.kind else { unreachable!() };
    stopping.background = Some(background);
    event
}

fn answer(event: &Event, processes: Vec<Liveness>) -> Verdict {
    let facts = Facts { processes, ..knowing(plan(Some(ME), 2, 0, 0)) };
    verdict(&fresh(), event, &facts)
}

fn is_refused(event: &Event, processes: Vec<Liveness>) -> bool {
    matches!(answer(event, processes), Verdict::Continue { .. })
}

#[test]
fn an_agent_that_works_excuses_a_stop_and_nothing_else_does() {
    for (what, status, refused) in [
        ("subagent", "running", false),
        ("teammate", "running", false),
        ("workflow", "pending", false),
        ("cloud session", "running", false),
        ("subagent", "completed", true),
        ("teammate", "killed", true),
        ("shell", "running", true),
        ("monitor", "running", true),
        ("MCP task", "running", true),
        // What the host does for itself wakes nobody.
        ("memory save", "running", true),
        ("dream", "running", true),
        ("", "running", true),
    ] {
        let event = with("Good progress, let me know!", vec![task(what, status, None)]);
        assert_eq!(is_refused(&event, Vec::new()), refused, "{what} {status}");
    }
}

#[test]
fn a_process_excuses_a_stop_while_the_agent_waits_for_it_and_it_lives() {
    let server = Liveness::Listens { port: 5173 };
    for (message, status, process, refused) in [
        (WAITS, "running", Liveness::Runs, false),
        ("WAITING: for the build", "running", Liveness::Runs, false),
        // Nobody can look: the host says that it runs.
        (WAITS, "running", Liveness::Unknown, false),
        (WAITS, "running", Liveness::Gone, true),
        (WAITS, "running", server, true),
        (WAITS, "completed", Liveness::Unknown, true),
        (WAITS, "failed", Liveness::Unknown, true),
        ("I wait for the build.", "running", Liveness::Runs, true),
        ("`WAITING: for the build`", "running", Liveness::Runs, true),
        ("<promise>ALL TASKS COMPLETE</promise>", "running", Liveness::Runs, true),
    ] {
        let event = with(message, vec![task("shell", status, Some("make all"))]);
        assert_eq!(is_refused(&event, vec![process]), refused, "{message} {status} {process:?}");
    }
    assert!(is_refused(&with(WAITS, Vec::new()), Vec::new()), "it waits for nothing");
}

#[test]
fn a_build_beside_a_server_is_waited_for() {
    let both = vec![task("shell", "running", Some("npm run dev")), task("shell", "running", Some("make all"))];
    let server = Liveness::Listens { port: 5173 };
    assert!(!is_refused(&with(WAITS, both.clone()), vec![server, Liveness::Runs]));
    assert!(is_refused(&with(WAITS, both), vec![server, Liveness::Gone]));
}

#[test]
fn a_refusal_names_the_process() {
    let reason = |message: &str, command: &str, process: Liveness| {
        let said = answer(&with(message, vec![task("shell", "running", Some(command))]), vec![process]);
        let Verdict::Continue { reason } = said else { unreachable!("{said:?}") };
        reason.split_once("sets it aside.").unwrap().1.to_owned()
    };
    assert_eq!(
        reason("Let me know!", "make all", Liveness::Unknown),
        " `make all` still runs in the background; it excuses a stop only with `<promise>WAITING: …</promise>`."
    );
    assert_eq!(
        reason(WAITS, "npm run dev", Liveness::Listens { port: 5173 }),
        " `npm run dev` listens on port 5173: a server does not end by itself, so it does not excuse a stop."
    );
    assert_eq!(reason(WAITS, "make  `x`\n", Liveness::Gone), " `make 'x'` has ended.");
    let long = reason("Let me know!", &"é".repeat(1_000), Liveness::Unknown);
    assert!(long.chars().count() < 200, "{long}");
}

#[test]
fn processes_are_looked_up_only_where_the_answer_depends_on_them() {
    let asks = |event: &Event| Completion.needs(&fresh(), &ParsedEvent::of(event)).processes;
    let shell = || vec![task("shell", "running", Some("make"))];
    assert!(asks(&with(WAITS, shell())));
    assert!(asks(&with("WAITING: for it", shell())));
    assert!(!asks(&with("Let me know!", shell())), "it excuses nothing");
    assert!(!asks(&with(WAITS, vec![task("subagent", "running", None)])));
    assert!(!asks(&with(WAITS, vec![task("shell", "completed", Some("make"))])));
    assert!(!asks(&saying(WAITS)));
}
