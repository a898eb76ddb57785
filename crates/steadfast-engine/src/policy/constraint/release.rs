//! Recognises commands that publish (deployments, releases), and options that are forbidden by name.

use super::history::git;
use super::program::{has, operands, starts};
use super::run::Run;

const DEPLOYS: [&[&str]; 52] = [
    &["vercel", "deploy"],
    &["vercel", "promote"],
    &["netlify", "deploy"],
    &["firebase", "deploy"],
    &["fly", "deploy"],
    &["flyctl", "deploy"],
    &["serverless", "deploy"],
    &["sls", "deploy"],
    &["sst", "deploy"],
    &["cdk", "deploy"],
    &["sam", "deploy"],
    &["eb", "deploy"],
    &["copilot", "deploy"],
    &["wrangler", "deploy"],
    &["wrangler", "publish"],
    &["wrangler", "pages", "deploy"],
    &["railway", "up"],
    &["railway", "deploy"],
    &["render", "deploys", "create"],
    &["heroku", "container:release"],
    &["heroku", "deploy"],
    &["amplify", "publish"],
    &["amplify", "push"],
    &["docker", "stack", "deploy"],
    &["kubectl", "apply"],
    &["kubectl", "create"],
    &["kubectl", "replace"],
    &["kubectl", "patch"],
    &["kubectl", "set"],
    &["kubectl", "rollout", "restart"],
    &["kubectl", "rollout", "undo"],
    &["kubectl", "scale"],
    &["kubectl", "delete"],
    &["oc", "apply"],
    &["helm", "install"],
    &["helm", "upgrade"],
    &["helm", "rollback"],
    &["helmfile", "apply"],
    &["helmfile", "sync"],
    &["terraform", "apply"],
    &["terraform", "destroy"],
    &["tofu", "apply"],
    &["pulumi", "up"],
    &["skaffold", "run"],
    &["skaffold", "deploy"],
    &["argocd", "app", "sync"],
    &["mkdocs", "gh-deploy"],
    &["hexo", "deploy"],
    &["kamal", "deploy"],
    &["dokku", "deploy"],
    &["modal", "deploy"],
    &["doctl", "apps", "create-deployment"],
];

/// Programs with many deployment commands of similar names.
const CLOUDS: [&str; 5] = ["gcloud", "aws", "az", "cap", "nx"];

pub(super) fn deploys(run: &Run) -> bool {
    if has(run, &["--dry-run", "--dryrun", "--dry-run=client", "--dry-run=server", "--noop"]) {
        return false;
    }
    let Some((program, rest)) = run.split_first() else { return false };
    let word = |word: &str| is_deploy(word);
    let first = operands(rest).next().map(String::as_str);
    let to_host = git(run).is_some_and(|(verb, rest)| {
        verb == "push"
            && operands(&rest).next().is_some_and(|remote| matches!(remote.as_str(), "heroku" | "dokku" | "production"))
    });
    let cloud = CLOUDS.contains(&program.as_str()) && operands(rest).any(|other| word(other))
        || starts(run, &["aws", "s3", "sync"])
        || starts(run, &["aws", "ecs", "update-service"])
        || starts(run, &["aws", "lambda", "update-function-code"]);
    let task = matches!(
        program.as_str(),
        "make"
            | "just"
            | "task"
            | "rake"
            | "gradle"
            | "gradlew"
            | "mvn"
            | "mvnw"
            | "ant"
            | "invoke"
            | "fab"
            | "mix"
            | "cargo"
    ) && operands(rest).any(|other| word(other));
    let package = matches!(program.as_str(), "npm" | "pnpm" | "yarn" | "bun" | "deno")
        && operands(rest).take(2).any(|other| word(other));
    let workflow = starts(run, &["gh", "workflow", "run"])
        && rest.iter().any(|other| word(other.trim_end_matches(".yml").trim_end_matches(".yaml")));
    // A script by its name, alone or after a shell.
    let script = word(stem(program))
        || matches!(
            program.as_str(),
            "bash" | "sh" | "zsh" | "python" | "python3" | "node" | "ruby" | "perl" | "tsx" | "ts-node"
        ) && operands(rest).next().is_some_and(|file| word(stem(file)));
    // Without a subcommand these deploy.
    let bare = matches!(program.as_str(), "vercel" | "now" | "surge" | "gh-pages")
        && first.is_none_or(|word| word.starts_with('.') || word.contains('/'))
        || program == "ansible-playbook";
    DEPLOYS.iter().any(|words| starts(run, words)) || to_host || cloud || task || package || workflow || script || bare
}

/// `deploy`, `deploy:prod`, `prod-deploy`, `deployProduction`.
fn is_deploy(word: &str) -> bool {
    let lower = word.to_lowercase();
    let mut parts = lower.split([':', '-', '_']);
    parts.any(|part| part == "deploy" || part == "redeploy")
        || lower.starts_with("deployto")
        || lower.starts_with("deployprod")
}

fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split('.').next().unwrap_or(name)
}

pub(super) fn publishes(run: &Run) -> bool {
    const PUBLISHES: [&[&str]; 22] = [
        &["npm", "publish"],
        &["pnpm", "publish"],
        &["yarn", "publish"],
        &["yarn", "npm", "publish"],
        &["bun", "publish"],
        &["deno", "publish"],
        &["jsr", "publish"],
        &["cargo", "publish"],
        &["cargo", "release"],
        &["twine", "upload"],
        &["uv", "publish"],
        &["poetry", "publish"],
        &["flit", "publish"],
        &["hatch", "publish"],
        &["gem", "push"],
        &["docker", "push"],
        &["dotnet", "nuget", "push"],
        &["gh", "release", "create"],
        &["glab", "release", "create"],
        &["lerna", "publish"],
        &["changeset", "publish"],
        &["vsce", "publish"],
    ];
    !has(run, &["--dry-run", "--dryrun"])
        && (PUBLISHES.iter().any(|words| starts(run, words))
            || matches!(run[0].as_str(), "semantic-release" | "release-it" | "goreleaser" | "np"))
}

/// Returns true if a command has an option, also in its short form where that is known.
pub(super) fn has_flag(run: &Run, flag: &str) -> bool {
    // These print or search for the option and do not use it.
    if matches!(run[0].as_str(), "echo" | "printf" | "grep" | "rg" | "man") {
        return false;
    }
    let own = run.iter().position(|word| word == "--").map_or(run.as_slice(), |end| &run[..end]);
    let long = |word: &String| {
        let name = word.split('=').next().unwrap_or(word);
        name == flag || flag == "--force" && matches!(name, "--force-with-lease" | "--force-if-includes")
    };
    if own.iter().any(long) {
        return true;
    }
    let letter = |rest: &[String], letter: char| {
        rest.iter().any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(letter))
    };
    let Some((verb, rest)) = git(run) else {
        let package = matches!(run[0].as_str(), "npm" | "pnpm" | "yarn");
        return flag == "--force" && package && has(run, &["-f"]);
    };
    match (flag, verb.as_str()) {
        ("--force", "push") => super::history::is_forced(&rest),
        ("--force", "checkout" | "switch" | "branch" | "tag" | "clean" | "add" | "mv" | "rm" | "fetch") => {
            letter(&rest, 'f') || verb == "branch" && letter(&rest, 'D')
        }
        ("--no-verify", "commit") => letter(&rest, 'n') && !has(&rest, &["-m"]) || has(&rest, &["-n"]),
        _ => false,
    }
}
