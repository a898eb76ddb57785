//! Without hooks, corrections stand in the results of calls, the same in every request.

use super::*;

on!(without_hooks_a_stray_write_is_corrected_in_its_result_in_every_request: claude_2_1_325, claude_2_1_197, codex_0_166_0);
on!(corrections_are_repeated_after_a_resume_behind_another_proxy: claude_2_1_325, codex_0_166_0);
on!(without_hooks_a_second_prompt_says_what_the_work_is_now: claude_2_1_325, codex_0_166_0);
on!(without_hooks_a_subagent_gets_only_its_own_corrections: claude_2_1_325, codex_0_166_0);
on!(without_hooks_a_compaction_sees_the_corrections_and_is_no_prompt: claude_2_1_325, codex_0_166_0);
on!(corrections_are_repeated_in_a_forked_session: claude_2_1_325);
on!(with_hooks_each_correction_is_given_once: claude_2_1_325, codex_0_166_0);
on!(without_hooks_an_agent_that_ignores_every_correction_is_halted: claude_2_1_325, codex_0_166_0);

/// A scene with a place of work.
fn at_work(program: &Program, config: &str) -> Scene {
    let scene = Scene::configured(program, config, 0);
    scene.write("src/auth/token.txt", "1\n");
    scene
}

/// The work, then two other places. Two of the calls are made at once.
fn straying() -> Scenario {
    let both = [Action::shell("mkdir -p ops && echo 1 > ops/list.txt"), Action::shell("cat src/auth/token.txt")];
    Scenario::new("strays")
        .prompt("Fix src/auth/token.txt.")
        .shell("echo 2 > src/auth/token.txt")
        .shell("mkdir -p web && echo 1 > web/menu.txt")
        .turn(Turn::saying("Both.").calling(both))
        .shell("cat src/auth/token.txt")
        .say("Done.")
}

const VOICE: &str = "[Steadfast, set up by the user] ";

/// The results of the calls in a request: the id of the call and the output.
fn outputs(request: &Request) -> Vec<(String, String)> {
    let of_block = |block: Value| {
        let (id, output) = match block["type"].as_str()? {
            "tool_result" => ("tool_use_id", "content"),
            kind if kind.ends_with("_call_output") => ("call_id", "output"),
            _ => return None,
        };
        let output = match block[output].as_array().map(Vec::as_slice) {
            Some([only]) => only["text"].clone(),
            _ => block[output].clone(),
        };
        Some((block[id].as_str()?.to_owned(), output.as_str().map_or_else(|| output.to_string(), str::to_owned)))
    };
    blocks(request).into_iter().filter_map(of_block).collect()
}

/// The corrections in the results of a request: the place of the result, and the correction.
fn corrections(request: &Request) -> Vec<(usize, String)> {
    let outputs = outputs(request).into_iter().enumerate();
    outputs.filter_map(|(at, (_, output))| Some((at, output[output.find(VOICE)?..].to_owned()))).collect()
}

fn has_both_corrections(request: &Request) {
    let said = corrections(request);
    let [(1, nudge), (2, correction)] = said.as_slice() else { panic!("{said:?}") };
    assert!(nudge.starts_with(&format!("{VOICE}Is this part of the goal? ")), "{nudge}");
    assert!(correction.starts_with(&format!("{VOICE}This leads away from the goal: ")), "{correction}");
    // Nothing else in the request has our words.
    assert_eq!(request.body.to_string().matches(VOICE).count(), 2);
}

fn without_hooks_a_stray_write_is_corrected_in_its_result_in_every_request(program: &Program) {
    let scene = at_work(program, "");
    let session = scene.session(straying()).started_by(["proxy", "--mode", "advise", "--"]);
    let run = without_hooks(program, session).run();
    assert!(run.status.success(), "{}", run.errors);
    let requests = main_requests(&run);
    assert_eq!(requests.len(), 5);
    is_one_conversation(&requests);
    let count = |request: &Request| corrections(request).len();
    assert_eq!(requests.iter().map(count).collect::<Vec<_>>(), [0, 0, 1, 2, 2]);
    requests[3..].iter().for_each(has_both_corrections);
    // Everything ran, and the records are those of hooks.
    assert!(["web/menu.txt", "ops/list.txt"].iter().all(|file| scene.root().join(file).exists()));
    let events = recorded(&run, &scene);
    let count = |kind: &str| events.iter().filter(|(via, found, _)| via == "proxy" && found == kind).count();
    assert_eq!((count("prompt"), count("pre_tool"), count("post_tool")), (1, 5, 5), "{events:?}");
    let kept = fs::read_to_string(scene.state().join("sessions").join(&run.id).join("corrections")).unwrap();
    assert_eq!(kept.lines().count(), 2, "{kept}");
}

fn corrections_are_repeated_after_a_resume_behind_another_proxy(program: &Program) {
    let scene = at_work(program, "");
    let session = scene.session(straying()).started_by(["proxy", "--mode", "advise", "--"]);
    let first = without_hooks(program, session).run();
    let before = main_requests(&first).pop().unwrap();
    has_both_corrections(&before);
    // Also one that only observes: what the model has seen stays.
    for mode in ["advise", "observe"] {
        let again = scene.session(Scenario::new("again").prompt("Go on.").say("Well."));
        let again =
            if program.is_claude() { again.args(["--resume", &first.id]) } else { again.args(["resume", &first.id]) };
        let again = again.started_by(["proxy", "--mode", mode, "--"]);
        let second = without_hooks(program, again).run();
        assert!(second.status.success(), "{}", second.errors);
        let after = main_requests(&second).remove(0);
        has_both_corrections(&after);
        assert_eq!(outputs(&after), outputs(&before), "{mode}");
        assert_eq!(calls(&after), calls(&before), "{mode}");
    }
}

fn with_hooks_each_correction_is_given_once(program: &Program) {
    let scene = at_work(program, "");
    let run = scene.session(straying()).started_by(["proxy", "--mode", "advise", "--"]).run();
    assert!(run.status.success(), "{}", run.errors);
    let events = recorded(&run, &scene);
    assert!(events.iter().all(|(via, _, _)| via != "proxy"), "{events:?}");
    let last = main_requests(&run).pop().unwrap().body.to_string();
    assert_eq!(last.matches("This leads away from the goal").count(), 1, "{last}");
    assert_eq!(last.matches(VOICE).count(), 0);
}

fn without_hooks_an_agent_that_ignores_every_correction_is_halted(program: &Program) {
    let scene = at_work(program, "[mode]\ndrift = \"enforce\"\n");
    let mut scenario = Scenario::new("goes on").prompt("Fix src/auth/token.txt.").shell("echo 2 > src/auth/token.txt");
    for n in 0..12 {
        scenario = scenario.shell(format!("mkdir -p away{n} && echo 1 > away{n}/part.txt"));
    }
    let session = scene.session(scenario.say("Done.")).started_by(["proxy", "--mode", "enforce", "--"]);
    let run = without_hooks(program, session).run();
    assert!(run.status.success(), "{}", run.errors);
    let written = (0..12).filter(|n| scene.root().join(format!("away{n}/part.txt")).exists()).count();
    assert!((2..12).contains(&written), "{written}");
    let requests = main_requests(&run);
    is_one_conversation(&requests);
    let last = requests.last().unwrap();
    assert!(calls(last).iter().all(|(_, tool, _)| tool != REFUSED_TOOL));
    let refused =
        outputs(last).iter().filter(|(_, output)| output.starts_with("Refused because it leads away")).count();
    assert_eq!(refused, 12 - written, "{:?}", outputs(last));
    assert!(corrections(last).len() >= 2, "{:?}", corrections(last));
}

fn without_hooks_a_second_prompt_says_what_the_work_is_now(program: &Program) {
    let scene = at_work(program, "");
    let session = scene.session(straying()).started_by(["proxy", "--mode", "advise", "--"]);
    let first = without_hooks(program, session).run();
    let more = Scenario::new("more")
        .prompt("Now add lib/one.txt and etc/two.txt.")
        .shell("mkdir -p lib && echo 1 > lib/one.txt")
        .shell("mkdir -p etc && echo 1 > etc/two.txt")
        .say("Done.");
    let again = scene.session(more);
    let again =
        if program.is_claude() { again.args(["--resume", &first.id]) } else { again.args(["resume", &first.id]) };
    let run = without_hooks(program, again.started_by(["proxy", "--mode", "advise", "--"])).run();
    assert!(run.status.success(), "{}", run.errors);
    let requests = main_requests(&run);
    assert_eq!(requests.len(), 3);
    is_one_conversation(&requests);
    requests.iter().for_each(has_both_corrections);
    let prompts = recorded(&run, &scene).into_iter().filter(|(via, kind, _)| via == "proxy" && kind == "prompt");
    assert_eq!(prompts.count(), 2);
}

fn without_hooks_a_subagent_gets_only_its_own_corrections(program: &Program) {
    let scene = at_work(program, "");
    let scenario = Scenario::new("delegates")
        .prompt("Fix src/auth/token.txt.")
        .shell("echo 2 > src/auth/token.txt")
        .shell("mkdir -p web && echo 1 > web/menu.txt")
        .agent("general-purpose", "look elsewhere")
        .subagent([
            Turn::doing([Action::shell("ls")]),
            Turn::doing([Action::shell("mkdir -p lib && echo 1 > lib/x.txt")]),
            Turn::saying("nothing there"),
        ])
        // A subagent of Codex runs beside the main thread.
        .shell("sleep 2; cat src/auth/token.txt")
        .say("Done.");
    let session = scene.session(scenario).started_by(["proxy", "--mode", "advise", "--"]);
    let run = without_hooks(program, session).run();
    assert!(run.status.success(), "{}", run.errors);
    let main = main_requests(&run);
    is_one_conversation(&main);
    let of_subagent: Vec<Request> =
        run.requests.iter().filter(|request| request.track == Track::Subagent).cloned().collect();
    assert_eq!(of_subagent.len(), 3);
    is_one_conversation(&of_subagent);
    let folders = |request: &Request| -> Vec<bool> {
        let said = corrections(request);
        ["web/menu.txt", "lib/x.txt"].map(|path| said.iter().any(|(_, text)| text.contains(path))).to_vec()
    };
    assert_eq!(folders(main.last().unwrap()), [true, false]);
    assert_eq!(folders(&of_subagent[2]), [false, true], "{:?}", corrections(&of_subagent[2]));
    assert_eq!(corrections(&of_subagent[1]), []);
}

fn without_hooks_a_compaction_sees_the_corrections_and_is_no_prompt(program: &Program) {
    let scene = at_work(program, "");
    let scenario = Scenario::new("compacts")
        .prompt("Fix src/auth/token.txt.")
        .shell("echo 2 > src/auth/token.txt")
        .shell("mkdir -p web && echo 1 > web/menu.txt")
        .shell("mkdir -p ops && echo 1 > ops/list.txt")
        .turn(Turn::doing([Action::shell("ls"), Action::Compact {}]))
        .say("Done.");
    let session = scene.session(scenario).started_by(["proxy", "--mode", "advise", "--"]);
    let run = without_hooks(program, session).run();
    assert!(run.status.success(), "{}", run.errors);
    let prompts = recorded(&run, &scene).into_iter().filter(|(via, kind, _)| via == "proxy" && kind == "prompt");
    assert_eq!(prompts.count(), 1);
    // All requests with the whole conversation, among them the compaction's.
    let whole: Vec<&Request> =
        run.requests.iter().filter(|request| request.body.to_string().contains("ops/list.txt")).collect();
    let whole: Vec<&Request> = whole.into_iter().filter(|request| outputs(request).len() >= 3).collect();
    assert!(whole.len() >= 2, "{}", whole.len());
    let side = whole.iter().filter(|request| request.track != Track::Main).count();
    assert!(
        side >= 1,
        "the compaction is among them: {:?}",
        whole.iter().map(|request| (&request.path, request.track)).collect::<Vec<_>>()
    );
    whole.into_iter().for_each(has_both_corrections);
}

fn corrections_are_repeated_in_a_forked_session(program: &Program) {
    let scene = at_work(program, "");
    let session = scene.session(straying()).started_by(["proxy", "--mode", "advise", "--"]);
    let first = without_hooks(program, session).run();
    let fork = scene.session(Scenario::new("fork").prompt("Go on.").say("Well."));
    let fork = fork.args(["--resume", &first.id, "--fork-session"]).started_by(["proxy", "--mode", "advise", "--"]);
    let second = without_hooks(program, fork).run();
    assert!(second.status.success(), "{}", second.errors);
    assert_ne!(first.id, second.id);
    let [before, after] = [main_requests(&first).pop().unwrap(), main_requests(&second).remove(0)];
    has_both_corrections(&after);
    assert_eq!(outputs(&after), outputs(&before));
}
