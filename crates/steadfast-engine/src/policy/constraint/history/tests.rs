use super::*;

/// Which of the lines run what is asked for.
fn those<'a>(lines: &[&'a str], is_it: impl Fn(&Run) -> bool) -> Vec<&'a str> {
    lines.iter().copied().filter(|line| runs_of(line).iter().any(&is_it)).collect()
}

#[test]
fn what_commits_by_another_name_is_a_commit() {
    let commits_too = [
        "git merge --no-ff feature",
        "git merge --continue",
        "git -c core.editor=true merge --continue",
        "GIT_EDITOR=true git cherry-pick --continue",
        "git cherry-pick --skip",
        "git cherry-pick a..b",
        "git revert HEAD",
        "git revert --no-edit --continue",
        "git am --continue",
        "git am --skip",
        "git commit-tree HEAD^{tree} -m x",
        "git am < a.patch",
        "git subtree add --prefix=a b main",
        "git gui citool",
        "git cz",
        "npx git-cz",
        "/usr/lib/git-core/git-commit -m x",
        "hub commit -m x",
        "jj commit -m x",
        "jj ci -m x",
        "sl amend",
        "gt create -m x",
        "npm version patch",
        "cd a && npm version 1.2.3 -m x",
    ];
    assert_eq!(those(&commits_too, commits), commits_too);
}

#[test]
fn what_is_near_a_commit_is_none() {
    let near = [
        "git stash",
        "git stash push -m x",
        "git merge --no-commit --no-ff x",
        "git merge --ff-only x",
        "git merge --abort",
        "git merge --quit",
        "git cherry-pick --abort",
        "git cherry-pick --quit",
        "git revert --abort",
        "git am --show-current-patch=diff",
        "git am --abort",
        "git rebase --abort",
        "git rebase --continue",
        "GIT_EDITOR=true git rebase --continue",
        "git rebase --skip",
        "git rebase main",
        "git cherry-pick -n x",
        "git revert --no-commit x",
        "git tag -a v1 -m x",
        "git ci -m x",
        "make commit",
        "./release.sh",
        "npm version",
        "npm version patch --no-git-tag-version",
        "pre-commit run --all-files",
        "jj log",
        "hub browse",
    ];
    assert_eq!(those(&near, commits), Vec::<&str>::new());
}

#[test]
fn what_reaches_the_remote_is_a_push() {
    let pushing = [
        "hub push",
        "hub sync",
        "git send-pack origin x",
        "git subtree push --prefix=a origin x",
        "git lfs push origin x",
        "git svn dcommit",
        "svn commit -m x",
        "jj git push",
        "gt submit",
        "gh pr new --fill",
        "git-push origin x",
    ];
    assert_eq!(those(&pushing, |run| pushes(run).is_some()), pushing);
    let near = ["git svn fetch", "git lfs pull", "git subtree pull --prefix=a b c", "gh pr view", "hub fetch"];
    assert_eq!(those(&near, |run| pushes(run).is_some()), Vec::<&str>::new());
}

#[test]
fn branches_are_made_and_left_in_many_ways() {
    let branching = [
        "git stash branch x",
        "git checkout -t origin/x",
        "git checkout --detach",
        "gh pr checkout 3",
        "git branch -m old new",
        "jj bookmark create x",
    ];
    assert_eq!(those(&branching, branches), branching);
    let near =
        ["git branch -d old", "git branch -u origin/x", "git branch --no-merged main", "gh pr list", "hub branch"];
    assert_eq!(those(&near, branches), Vec::<&str>::new());
}

#[test]
fn requests_and_merges_at_the_remote_are_seen() {
    let opening = [
        "gh api repos/a/b/pulls -f title=x -f head=y",
        "gh api -X POST repos/a/b/pulls --input body.json",
        "git push -o merge_request.create origin x",
        "az repos pr create",
        "hub pull-request -m x",
    ];
    assert_eq!(those(&opening, opens_request), opening);
    assert_eq!(those(&["gh api repos/a/b/pulls", "gh pr list"], opens_request), Vec::<&str>::new());
    let merging = [
        "gh pr merge --squash 3",
        "gh pr merge --auto",
        "gh api -X PUT repos/a/b/pulls/3/merge",
        "gh pr update-branch 3",
        "git merge --no-ff x",
        "git pull --rebase",
        "git pull origin main",
        "hub merge https://example.org/a/b/pull/1",
        "jj rebase -d main",
    ];
    assert_eq!(those(&merging, merges), merging);
    let near = ["git pull", "git pull --ff-only origin main", "git merge-base a b", "git mergetool", "gh pr view 3"];
    assert_eq!(those(&near, merges), Vec::<&str>::new());
}
