mod loops;
mod settings;
mod spellings;

use std::fs;

use steadfast_model::{Agent, AgentId, Event, Host, Millis, PromptOrigin, Ruling, SessionId, ToolUseId};

use super::*;
use crate::{PolicyDecision, decide};

fn event(kind: EventKind) -> Event {
    Event::plain(SessionId::new("s"), Host::Claude, "/repo", Millis(1), kind)
}

fn prompt(text: &str) -> Event {
    event(EventKind::prompt(text, PromptOrigin::Human))
}

fn pre(tool: &str, action: Action) -> Event {
    let id = Some(ToolUseId::new(format!("{tool} {action:?}")));
    event(EventKind::PreTool(ToolCall { id, tool: tool.into(), action, words: Vec::new() }))
}

fn shell(command: &str) -> Event {
    pre("Bash", Action::shell(command))
}

fn write(path: &str) -> Event {
    pre("Write", Action::Write { paths: vec![path.into()] })
}

fn by_subagent(event: Event) -> Event {
    Event { agent: Some(Agent { id: AgentId::new("a"), agent_type: "worker".into() }), ..event }
}

fn go(state: &mut State, event: &Event) -> PolicyDecision {
    let decision = decide(state, event, &Facts::default());
    for change in &decision.changes {
        state.apply(change);
    }
    decision
}

/// A session whose human said that.
fn told(texts: &[&str]) -> State {
    let mut state = State::new(SessionId::new("s"), Host::Claude, Millis(0));
    for text in texts {
        go(&mut state, &prompt(text));
    }
    state
}

fn refusal(state: &State, event: &Event) -> Option<String> {
    match decide(state, event, &Facts::default()).answer.ruling {
        Ruling::Deny { reason } => Some(reason),
        _ => None,
    }
}

fn note(state: &State, event: &Event) -> Option<String> {
    decide(state, event, &Facts::default()).answer.note
}

#[track_caller]
fn check(said: &str, refused: &[Event], passed: &[Event]) {
    let state = told(&[said]);
    assert!(!state.constraints().is_empty(), "{said}");
    for event in refused {
        assert!(refusal(&state, event).is_some(), "{said}: {:?} passes", event.kind);
    }
    for event in passed {
        assert_eq!(refusal(&state, event), None, "{said}: {:?}", event.kind);
    }
}

#[test]
fn a_refusal_quotes_the_human_and_is_short() {
    let state = told(&["Fix the login, but don't commit yet."]);
    assert_eq!(
        refusal(&state, &shell("cd x && git -c user.name=a commit -am 'done'")).as_deref(),
        Some("The human said: \"Fix the login, but don't commit yet\". `git commit` is not run.")
    );
    let state = told(&["only touch src/auth"]);
    assert_eq!(
        refusal(&state, &write("src/ui/theme.css")).as_deref(),
        Some("The human said: \"only touch src/auth\". `src/ui/theme.css` is not written.")
    );
}

#[test]
fn a_commit_is_refused_however_it_is_spelled() {
    check(
        "don't commit",
        &[
            shell("git commit -m x"),
            shell("cd x && git -c a=b commit"),
            shell("git -C . commit"),
            shell("git --git-dir=.git --work-tree . commit"),
            shell("git --git-dir .git commit"),
            shell("env GIT_AUTHOR_NAME=a git commit"),
            shell("GIT_EDITOR=true git commit --amend"),
            shell("bash -c 'git commit -m x'"),
            shell("git add -A; git commit -m \"$(cat <<'EOF'\nfix: it's done\n\nbody\nEOF\n)\""),
            shell("git -c alias.ci=commit ci -m x"),
            shell("git -c 'alias.x=!git commit' x"),
            shell("git cherry-pick abc"),
            shell("git revert HEAD"),
            shell("git add . && git commit -m x && git push"),
            shell("jj commit -m x"),
            by_subagent(shell("git commit -m x")),
        ],
        &[
            shell("git status"),
            shell("git add -A"),
            shell("git log --grep commit"),
            shell("git show HEAD"),
            shell("git help commit"),
            shell("git commit --dry-run"),
            shell("git stash"),
            shell("git push"),
            shell("grep -rn 'git commit' ."),
            shell("echo 'git commit' > notes.txt"),
            shell("npm run commit-lint"),
            write("src/commit.rs"),
        ],
    );
}

#[test]
fn leave_of_the_human_lifts_it_and_nobody_elses_does() {
    let commit = || shell("git commit -m x");
    let mut state = told(&["don't commit"]);
    go(&mut state, &event(EventKind::prompt("ok, commit it", PromptOrigin::Notification)));
    go(&mut state, &event(EventKind::prompt("ok, commit it", PromptOrigin::Machine)));
    go(&mut state, &by_subagent(prompt("ok, commit it")));
    assert!(refusal(&state, &commit()).is_some());
    go(&mut state, &prompt("ok, commit it"));
    assert_eq!(refusal(&state, &commit()), None);
    assert_eq!(state.constraints(), []);
    go(&mut state, &prompt("don't commit anything else"));
}

#[test]
fn a_push_is_refused_and_where_it_goes_counts() {
    check(
        "don't push",
        &[
            shell("git push"),
            shell("git -C a push origin HEAD"),
            shell("git commit -am x && git push -u origin x"),
            shell("gh pr create --fill"),
        ],
        &[shell("git push --dry-run"), shell("git pull"), shell("git commit -m push"), shell("git stash push")],
    );
    check(
        "don't push to main",
        &[
            shell("git push origin main"),
            shell("git push origin HEAD:main"),
            shell("git push origin +x:refs/heads/main"),
        ],
        &[shell("git push origin feature"), shell("git push -u origin main-menu"), shell("git push")],
    );
    check(
        "never force push",
        &[shell("git push -f"), shell("git push --force-with-lease origin x"), shell("git push origin +x")],
        &[shell("git push origin x"), shell("git push")],
    );
    assert_eq!(
        note(&told(&["don't push to main"]), &shell("git push")).as_deref(),
        Some("You said: \"don't push to main\". Steadfast allowed a push and does not know whether it is to `main`.")
    );
}

#[test]
fn branches_requests_and_merges_are_refused() {
    check(
        "don't create a new branch",
        &[shell("git checkout -b x"), shell("git switch -c x"), shell("git branch x"), shell("git worktree add ../x")],
        &[
            shell("git branch"),
            shell("git branch --show-current"),
            shell("git checkout -- src/a.rs"),
            shell("git checkout src/a.rs"),
        ],
    );
    check(
        "don't open a PR",
        &[
            shell("gh pr create --fill"),
            pre("mcp", Action::Mcp { server: "github".into(), tool: "create_pull_request".into(), paths: Vec::new() }),
        ],
        &[shell("gh pr view 3"), shell("git push")],
    );
    check(
        "don't merge it",
        &[shell("git merge main"), shell("gh pr merge 3")],
        &[shell("git merge --abort"), shell("git merge-base a b")],
    );
}

#[test]
fn new_dependencies_are_refused_and_a_manifest_is_only_noted() {
    check(
        "no new dependencies",
        &[
            shell("npm install lodash"),
            shell("npm i -D vitest"),
            shell("pnpm add zod"),
            shell("yarn add left-pad"),
            shell("cargo add serde"),
            shell("pip install requests"),
            shell("python -m pip install requests"),
            shell("uv add httpx"),
            shell("uv pip install httpx"),
            shell("poetry add rich"),
            shell("go get github.com/a/b"),
            shell("cd web && npm install --save lodash"),
        ],
        &[
            shell("npm install"),
            shell("npm ci"),
            shell("pip install -r requirements.txt"),
            shell("pip install -e ."),
            shell("cargo build"),
            shell("yarn"),
            write("Cargo.toml"),
        ],
    );
    assert_eq!(
        note(&told(&["no new dependencies"]), &write("Cargo.toml")).as_deref(),
        Some(
            "You said: \"no new dependencies\". `Cargo.toml` is edited; Steadfast does not know whether that adds a \
              dependency."
        )
    );
    check(
        "don't install anything",
        &[shell("npm ci"), shell("sudo apt-get install -y jq"), shell("pip install -r r.txt")],
        &[shell("npm test")],
    );
}

#[test]
fn what_must_not_be_touched_is_not_written_whatever_the_tool() {
    check(
        "don't touch the schema or src/legacy/",
        &[
            write("db/schema.rb"),
            write("/repo/src/legacy/a.py"),
            shell("sed -i s/a/b/ db/schema.rb"),
            shell("echo x >> src/legacy/a.py"),
            shell("rm src/legacy/a.py"),
            pre(
                "mcp",
                Action::Mcp {
                    server: "fs".into(),
                    tool: "write_file".into(),
                    paths: vec!["/repo/db/schema.rb".into()],
                },
            ),
            by_subagent(write("db/schema.rb")),
        ],
        &[
            write("src/a.py"),
            shell("cat db/schema.rb"),
            shell("grep -n x src/legacy/a.py > /tmp/found"),
            pre("Read", Action::Read { paths: vec!["db/schema.rb".into()] }),
            pre(
                "mcp",
                Action::Mcp { server: "fs".into(), tool: "read_file".into(), paths: vec!["/repo/db/schema.rb".into()] },
            ),
        ],
    );
}

#[test]
fn a_fence_keeps_writes_inside_and_lets_reads_and_scratch_be() {
    check(
        "only touch src/auth",
        &[write("src/ui/a.ts"), write("README.md"), shell("echo x > notes.md"), shell("cp a b"), write("/home/u/x")],
        &[
            write("src/auth/token.ts"),
            write("/repo/src/auth/deep/x.ts"),
            shell("cat src/ui/a.ts"),
            shell("npm test > /tmp/out.txt 2>&1"),
            write(".steadfast/scratch/plan.md"),
            pre("Read", Action::Read { paths: vec!["src/ui/a.ts".into()] }),
        ],
    );
}

#[test]
fn a_pattern_beside_the_fence_is_outside_and_one_above_it_may_be() {
    check(
        "only touch src/auth",
        &[shell("rm src/ui/*.ts"), shell("sed -i s/a/b/ docs/*.md")],
        &[shell("rm src/auth/*.ts"), shell("sed -i s/a/b/ src/*/a.ts")],
    );
    assert_eq!(
        note(&told(&["only touch src/auth"]), &shell("sed -i s/a/b/ src/*/a.ts")).as_deref(),
        Some("You said: \"only touch src/auth\". Steadfast allowed a command that may write `src/*/a.ts`.")
    );
    assert_eq!(
        note(&told(&["only touch src/auth"]), &shell("git apply x.patch")).as_deref(),
        Some("You said: \"only touch src/auth\". Steadfast allowed a command that may write any file.")
    );
    check(
        "only edit `src/**/*.css`",
        &[write("src/a.ts"), write("web/a.css"), shell("echo x > src/ui/a.ts")],
        &[write("src/ui/a.css"), write("src/ui/deep/a.css"), write("src/a.css")],
    );
    check("only touch *.md files", &[write("src/a.rs")], &[write("docs/a.md"), write("README.md")]);
}

#[test]
fn reading_only_writes_nothing() {
    check(
        "just look, don't change anything",
        &[
            write("a.rs"),
            shell("sed -i s/a/b/ a.rs"),
            shell("git checkout -- a.rs"),
            shell("git commit -m x"),
            shell("rm a.rs"),
            shell("npm install x"),
        ],
        &[shell("cat a.rs"), shell("git diff"), shell("cargo test"), shell("ls > /tmp/x"), shell("git stash list")],
    );
}

#[test]
fn what_must_not_be_run_is_not_run() {
    check(
        "don't run the tests",
        &[
            shell("cargo test -p x"),
            shell("npm test"),
            shell("npm run test:unit"),
            shell("pytest -q"),
            shell("cd a && python -m pytest"),
            shell("npx jest"),
            shell("make test"),
        ],
        &[shell("cargo build"), shell("cat tests/a.rs"), shell("npm run build")],
    );
    check(
        "don't run the integration tests",
        &[shell("cargo test --test integration"), shell("npm run test:integration"), shell("pytest tests/integration")],
        &[shell("cargo test --lib"), shell("pytest tests/unit"), shell("ls tests/integration")],
    );
    check(
        "don't start the dev server",
        &[shell("npm run dev"), shell("pnpm dev"), shell("npm start"), shell("python manage.py runserver")],
        &[shell("npm run build"), shell("npm test")],
    );
    check(
        "Don't run `terraform apply`",
        &[shell("terraform apply"), shell("terraform -chdir=x apply -auto-approve")],
        &[shell("terraform plan"), shell("echo terraform apply")],
    );
    check("don't use sudo", &[shell("sudo ls"), shell("true && sudo -E ls")], &[shell("ls"), shell("echo sudo")]);
    check("use pnpm, don't use npm", &[shell("npm test")], &[shell("pnpm test")]);
}

#[test]
fn deleting_moving_and_the_network() {
    check(
        "don't delete anything",
        &[shell("rm a"), shell("git rm a"), shell("find . -name '*.o' -exec rm {} \\;")],
        &[shell("rm /tmp/x"), write("a"), shell("mv a b")],
    );
    check("don't rename or move any files", &[shell("mv a b"), shell("git mv a b")], &[shell("cp a b"), write("a")]);
    check(
        "no network access for this task",
        &[shell("curl https://example.org"), shell("git fetch"), shell("npm install"), pre("WebFetch", Action::Other)],
        &[shell("curl localhost:3000"), shell("git status"), shell("npm test")],
    );
}

#[test]
fn what_no_action_shows_is_kept_and_refuses_nothing() {
    check("put the rename in a separate PR", &[], &[shell("git commit -m x"), write("a")]);
}

#[test]
fn what_cannot_be_read_passes_and_is_noted() {
    let state = told(&["don't commit"]);
    let event = shell("git status && (");
    assert_eq!(refusal(&state, &event), None);
    assert_eq!(
        note(&state, &event).as_deref(),
        Some("You said: \"don't commit\". Steadfast allowed a command that it could not read.")
    );
}

#[test]
fn a_mode_ties_its_hands() {
    let mut state = told(&["don't commit"]);
    state.rules.constraint = Mode::Advise;
    let answer = decide(&state, &shell("git commit"), &Facts::default()).answer;
    assert_eq!((answer.ruling, answer.context.is_some()), (Ruling::Pass, true));
    state.rules.constraint = Mode::Observe;
    assert!(decide(&state, &shell("git commit"), &Facts::default()).answer.is_pass());
}

#[test]
fn without_a_constraint_nothing_is_read() {
    let state = told(&["Fix the login"]);
    assert!(decide(&state, &shell("git commit && git push && rm -rf src"), &Facts::default()).opinions.is_empty());
}

/// Commands that agents really ran.
#[test]
fn of_benign_commands_only_commits_are_refused_by_dont_commit() {
    let Some(list) = steadfast_testkit::corpus("benign_commands.tsv") else { return };
    let list = fs::read_to_string(list).unwrap();
    let state = told(&["don't commit"]);
    let mut wrong = Vec::new();
    for command in list.lines().skip(1).filter_map(|line| line.split('\t').nth(4)) {
        let command = command.replace("\\n", "\n").replace("\\t", "\t");
        // Whether git's own words for it stand there in this order.
        let mut words = command.split(|c: char| c.is_whitespace() || "\"'`();&|".contains(c));
        let commits = words.any(|word| word == "git")
            && words.any(|word| ["commit", "cherry-pick", "revert", "am", "--continue"].contains(&word));
        if refusal(&state, &shell(&command)).is_some_and(|reason| reason.contains("human said")) && !commits {
            wrong.push(command);
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}
