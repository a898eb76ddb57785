//! The same deed in other words, and harmless ones that only look like it.

use steadfast_model::GitAlias;

use super::*;

#[track_caller]
fn shells(said: &str, refused: &[&str], passed: &[&str]) {
    let events = |lines: &[&str]| lines.iter().map(|line| shell(line)).collect::<Vec<_>>();
    check(said, &events(refused), &events(passed));
}

#[test]
fn no_new_dependencies_whatever_stands_before_the_verb() {
    shells(
        "No new dependencies.",
        &[
            "pnpm --filter web add x",
            "npm -w web i x",
            "npm --prefix web install x",
            "yarn workspace web add x",
            "cargo +nightly add x",
            "go -C web get example.com/x",
            "uv --directory web add x",
            "npm pkg set dependencies.x=1",
            "deno add npm:x",
            "go mod edit -require=x@v1",
            "gem install x",
        ],
        &[
            "npm ci",
            "npm install",
            "npm --prefix web ci",
            "pnpm --filter web test",
            "cargo +nightly test",
            "npm i --help",
        ],
    );
}

#[test]
fn what_only_tells_or_goes_on_passes() {
    shells(
        "Don't commit.",
        &[
            "git commit -m --help",
            "git commit -am x",
            "git merge --no-ff x",
            "git merge --continue",
            "git cherry-pick --continue",
            "git add -A && GIT_EDITOR=true git revert --continue",
        ],
        &[
            "git rebase --continue",
            "git rebase --skip",
            "git cherry-pick --abort",
            "git commit --help",
            "git help commit",
            "git commit -h",
        ],
    );
    shells(
        "Don't merge anything.",
        &["git merge x", "git rebase main", "git merge --continue"],
        &["git rebase --continue", "git merge --abort"],
    );
    shells(
        "Don't run the tests.",
        &[
            "npm test",
            "npm run test:unit",
            "npm --prefix web test",
            "cargo +nightly test",
            "pytest -q",
            "pytest -v",
            "ctest -V",
            "go -C web test ./...",
        ],
        &[
            "npm run test:types",
            "npm run test:lint",
            "pytest --version",
            "pytest --collect-only",
            "cargo test --help",
            "cargo test --no-run",
            "jest --version",
            "pip --version",
        ],
    );
    shells("Don't open a PR.", &["gh pr create", "gh -R a/b pr create -t x"], &["gh pr create --help", "gh pr view"]);
    shells("Don't push.", &["gh pr create --title x", "git push"], &["git push --help", "gh pr create --help"]);
}

#[test]
fn what_is_made_again_may_be_deleted() {
    shells(
        "Don't delete any files.",
        &["rm src/a.ts", "rm -rf src/build", "rm -rf vendor", "rm -rf node_modules src"],
        &[
            "rm -rf node_modules",
            "rm -rf target",
            "rm -rf web/node_modules/.cache",
            "rm -rf dist build",
            "rm -rf packages/a/dist",
            "rm -rf .pytest_cache __pycache__",
            "rm -f /tmp/x",
        ],
    );
    shells(
        "Only touch src/auth.",
        &["rm -rf src/styles", "echo x > node_modules/a/index.js"],
        &["rm -rf node_modules/.cache", "rm -rf .next", "echo x > src/auth/a.ts"],
    );
    shells(
        "Just look, don't change anything.",
        &["npm i x", "npm install", "brew install jq", "rm -rf src"],
        &[
            "npm ci",
            "pip install -r requirements.txt",
            "pnpm install --frozen-lockfile",
            "rm -rf node_modules",
            "bundle install",
        ],
    );
}

#[test]
fn deployments_flags_and_releases() {
    shells(
        "Fix it, but do not deploy.",
        &[
            "npm run deploy",
            "npm run deploy:prod",
            "make deploy",
            "./scripts/deploy.sh",
            "bash deploy.sh",
            "vercel --prod",
            "vercel deploy",
            "fly deploy --remote-only",
            "kubectl -n web apply -f k8s/",
            "helm -n web upgrade a b",
            "terraform apply",
            "gcloud app deploy",
            "git push heroku main",
            "npx wrangler deploy",
            "cdk deploy",
            "firebase deploy --only hosting",
        ],
        &[
            "npm run build",
            "cat deploy.sh",
            "git commit -m 'fix deploy'",
            "grep -rn deploy .",
            "terraform plan",
            "kubectl get pods",
            "git push origin main",
            "vercel dev",
            "make deploy --help",
        ],
    );
    shells(
        "Never use --force.",
        &[
            "git push --force",
            "git push -f",
            "git push origin +main",
            "npm i --force",
            "git push --force-with-lease",
            "git clean -f",
        ],
        &["git push", "rm -f x", "tail -f log", "make -f x.mk", "git commit -m 'no --force'", "grep -- --force a"],
    );
    shells(
        "Don't use `--no-verify`.",
        &["git commit --no-verify -m x", "git commit -n -m x", "git push --no-verify"],
        &["git commit -m x", "git push"],
    );
    shells("Don't publish anything.", &["npm publish", "cargo publish"], &["npm pack", "cargo publish --dry-run"]);
}

#[test]
fn what_is_installed_is_used() {
    for said in [
        "Use what is already installed, nothing new.",
        "Just use what's already installed.",
        "Work with whatever is installed.",
    ] {
        shells(said, &["npm i lodash", "pip install requests", "brew install jq"], &["npm test", "npm ls"]);
    }
}

#[test]
fn new_files_are_new() {
    for said in
        ["Don't create new files.", "don't create any files", "No new files please.", "Fix it. Do not add new files."]
    {
        let state = told(&[said]);
        let facts = Facts { new_files: vec!["/repo/src/new.ts".into()], ..Facts::default() };
        let ruling = |event: &Event, facts: &Facts| decide(&state, event, facts).answer.ruling;
        assert!(matches!(ruling(&write("src/new.ts"), &facts), Ruling::Deny { .. }), "{said}");
        assert!(matches!(ruling(&shell("echo x > src/new.ts"), &facts), Ruling::Deny { .. }), "{said}");
        assert_eq!(ruling(&write("src/old.ts"), &Facts::default()), Ruling::Pass, "{said}");
        assert!(crate::needs(&state, &write("src/old.ts")).new_files);
    }
}

#[test]
fn an_alias_is_what_it_stands_for() {
    let alias = |name: &str, body: &str| GitAlias { name: name.into(), body: body.into() };
    let facts = Facts {
        aliases: vec![alias("ci", "commit -v"), alias("up", "!git push"), alias("c", "ci"), alias("st", "status")],
        ..Facts::default()
    };
    let ruling = |said: &str, line: &str| decide(&told(&[said]), &shell(line), &facts).answer.ruling;
    for (said, line) in [
        ("Don't commit.", "git ci -m x"),
        ("Don't commit.", "git -C web c -m x"),
        ("Don't push.", "git up"),
        ("Don't push.", "cd web && git up"),
    ] {
        assert!(matches!(ruling(said, line), Ruling::Deny { .. }), "{said}: {line}");
        assert!(crate::needs(&told(&[said]), &shell(line)).aliases, "{line}");
    }
    assert_eq!(ruling("Don't commit.", "git st"), Ruling::Pass);
    assert!(!crate::needs(&told(&["Don't commit."]), &shell("git status")).aliases);
    assert_eq!(ruling("Fix it.", "git ci -m x"), Ruling::Pass, "nothing is forbidden");
}

#[test]
fn what_a_script_did_is_told_once_and_not_for_certain() {
    use steadfast_model::{Marks, Outcome, ToolResult};
    let marks = |commit: u64| Facts {
        marks: Some(Marks { commit: Some(commit), push: Some(1), manifests: vec![("package.json".into(), commit)] }),
        ..Facts::default()
    };
    let post = |event: &Event| {
        let EventKind::PreTool(call) = &event.kind else { unreachable!() };
        let result = ToolResult {
            call: call.clone(),
            outcome: Outcome::Ok,
            millis: None,
            answers: Vec::new(),
            names: Vec::new(),
        };
        super::event(EventKind::PostTool(result))
    };
    for (said, what) in
        [("Don't commit.", "HEAD moved by a commit"), ("No new dependencies.", "`package.json` changed")]
    {
        let mut state = told(&[said]);
        let call = shell("sh commit.sh");
        assert!(crate::needs(&state, &call).marks);
        let mut step = |event: &Event, facts: &Facts| {
            let decision = decide(&state, event, facts);
            decision.changes.iter().for_each(|change| state.apply(change));
            decision.answer
        };
        step(&call, &marks(1));
        let answer = step(&post(&call), &marks(2));
        assert!(
            answer.note.as_ref().is_some_and(|note| note.contains(what) && note.contains("while `sh commit.sh` ran")),
            "{answer:?}"
        );
        assert!(answer.context.iter().any(|text| text.contains(what)), "{answer:?}");
        assert!(state.watched.is_empty());
        assert!(!crate::needs(&state, &post(&call)).marks);
    }
    // Nothing moved, nothing is said; and what only looks is not watched.
    let mut state = told(&["Don't commit."]);
    let call = shell("make test");
    decide(&state, &call, &marks(1)).changes.iter().for_each(|change| state.apply(change));
    assert_eq!(decide(&state, &post(&call), &marks(1)).answer.note, None);
    assert!(!crate::needs(&state, &shell("ls")).marks);
    assert!(!crate::needs(&told(&["Fix it."]), &shell("make")).marks);
}
