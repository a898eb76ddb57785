//! What a check finds around itself.

use steadfast_model::CheckEnd;

use crate::supervisor::Fixture;

#[test]
fn there_is_no_terminal_to_ask_at() {
    for command in ["read answer </dev/tty", "stty -echo", "stty size </dev/tty", "test -t 0 || test -t 1 || test -t 2"]
    {
        let report = Fixture::of(command).report();
        assert!(!report.passed(), "{command}: {report:?}");
        assert!(matches!(report.end, CheckEnd::Exited(code) if code > 0), "{command}: {report:?}");
    }
}

#[test]
fn its_input_is_empty() {
    let report = Fixture::of("cat; read -r line; echo \"read said $?\"").report();
    assert_eq!(report.output_tail, "read said 1");
}

#[test]
fn nobody_is_asked_for_a_password() {
    let report = Fixture::of("printf 'protocol=https\\nhost=example.invalid\\n\\n' | git credential fill").report();
    assert!(matches!(report.end, CheckEnd::Exited(code) if code > 0), "{report:?}");
}

#[test]
fn it_has_a_group_of_its_own_in_the_session_of_its_supervisor() {
    let report = Fixture::of("ps -o pid=,pgid=,sid= -p $$; echo $PPID").report();
    let numbers: Vec<&str> = report.output_tail.split_whitespace().collect();
    let [pid, group, session, parent] = numbers[..] else { panic!("{report:?}") };
    assert_eq!((group, session), (pid, parent));
}

#[test]
fn it_knows_that_it_is_a_check_and_whose() {
    let mut fixture = Fixture::of("echo $STEADFAST_CHECK $CI $TERM $PAGER $EXTRA; pwd");
    fixture.run.environment = vec![("EXTRA".to_owned(), "more".to_owned()), ("PAGER".to_owned(), "mine".to_owned())];
    let report = fixture.report();
    assert_eq!(report.output_tail, format!("1.2 true dumb mine more\n{}", fixture.work().display()));
}

#[test]
fn a_program_that_keeps_it_in_starts_it() {
    let report = Fixture::of("echo $KEPT").within(&["env", "KEPT=in here"]).report();
    assert_eq!(report.output_tail, "in here");
}

#[test]
fn a_command_line_is_one_for_the_shell() {
    let report =
        Fixture::of("x='a b'; for i in 1 2; do printf '%s-%s\\n' \"$x\" $i; done # end\ntrue && echo \"$0\"").report();
    assert_eq!(report.output_tail, "a b-1\na b-2\n/bin/sh");
}
