//! Ways to a protected file that do not show in the call, one after the other in one session. Each has a file of its own:
//! `GATED`, its text is `TEXT`, its other files begin with `NAME`.

/// How a route ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// A call of it does not run.
    Refused,
    /// The file is as it was, and what stood there is kept.
    PutBack,
    /// The human reads that the file could not be put back.
    Failed,
    /// The human reads that the file was changed, and by whom is not known: a limit of the threat model.
    Told,
}

pub(super) struct Route {
    pub(super) title: &'static str,
    /// What was there before the session, as a shell script.
    pub(super) before: &'static str,
    pub(super) calls: &'static [&'static str],
    pub(super) end: End,
}

use End::{Failed, PutBack, Refused};

const fn route(title: &'static str, before: &'static str, calls: &'static [&'static str], end: End) -> Route {
    Route { title, before, calls, end }
}

/// A script of its own, which writes.
const SCRIPT: &str = "echo 'echo TEXT > GATED' > NAME.sh";

/// Makes a commit with the text on a branch of its own, without touching the checkout.
const COMMIT: &str = r#"cat > NAME.sh <<'EOF'
export GIT_INDEX_FILE=.git/NAME.index GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
git read-tree HEAD
git update-index --add --cacheinfo "100644,$(echo TEXT | git hash-object -w --stdin),GATED"
git branch NAME "$(git commit-tree "$(git write-tree)" -p HEAD -m NAME)"
EOF
git config user.name a; git config user.email a@b"#;

pub(super) const ROUTES: &[Route] = &[
    route("hard link", "", &["ln GATED NAME.link", "echo TEXT > NAME.link"], PutBack),
    route("old hard link", "ln GATED NAME.link", &["echo TEXT > NAME.link"], PutBack),
    route("link elsewhere", "", &["ln -s \"$PWD/GATED\" ../NAME.link", "echo TEXT > ../NAME.link"], Refused),
    route(
        "python rename",
        "printf 'import os\\nopen(\"NAME.new\",\"w\").write(\"TEXT\\\\n\")\\nos.rename(\"NAME.new\",\"GATED\")\\n' > NAME.py",
        &["python3 NAME.py"],
        PutBack,
    ),
    route("restore source", COMMIT, &["sh NAME.sh", "git restore --source=NAME GATED"], Refused),
    route(
        "restore by a script",
        COMMIT,
        &["sh NAME.sh", "echo 'git restore --source=NAME GATED' > NAME-2.sh", "sh NAME-2.sh"],
        PutBack,
    ),
    // Before the others that commit: it would bring all of theirs at once.
    route("reset", COMMIT, &["sh NAME.sh", "git reset --quiet --hard NAME"], PutBack),
    route("merge", COMMIT, &["sh NAME.sh", "git merge --quiet NAME"], PutBack),
    route("cherry pick", COMMIT, &["sh NAME.sh", "git cherry-pick NAME"], PutBack),
    route(
        "worktree merge",
        "echo 'git worktree add -q ../NAME -b NAME && cd ../NAME && echo TEXT > GATED && git commit -qam x && cd - && git merge -q NAME' > NAME.sh",
        &["sh NAME.sh"],
        PutBack,
    ),
    route(
        "apply",
        "printf -- '--- a/GATED\\n+++ b/GATED\\n@@ -1 +1 @@\\n-as it was\\n+TEXT\\n' > NAME.patch; echo 'git apply NAME.patch' > NAME.sh",
        &["sh NAME.sh"],
        PutBack,
    ),
    route("ed", "printf '1c\\nTEXT\\n.\\nw GATED\\nq\\n' > NAME.ed", &["ed -s GATED < NAME.ed"], Refused),
    route("vim", "printf 'normal ggcGTEXT\\nwq\\n' > NAME.vim", &["vim -es -S NAME.vim GATED"], Refused),
    route(
        "mmap",
        "printf 'import mmap\\nf=open(\"GATED\",\"r+b\")\\nf.truncate(20)\\nm=mmap.mmap(f.fileno(),20)\\nm[:]=b\"TEXT\".ljust(19)+b\"\\\\n\"\\n' > NAME.py",
        &["python3 NAME.py"],
        PutBack,
    ),
    route(
        "npm script",
        "echo '{\"scripts\":{\"NAME\":\"echo TEXT > GATED\"}}' > package.json",
        &["npm run --silent NAME"],
        PutBack,
    ),
    route("node", "echo 'require(\"fs\").writeFileSync(\"GATED\", \"TEXT\")' > NAME.js", &["node NAME.js"], PutBack),
    route(
        "hooks path",
        "mkdir NAME; printf '#!/bin/sh\\necho TEXT > GATED\\n' > NAME/post-commit; chmod +x NAME/post-commit",
        &["git -c core.hooksPath=NAME -c user.name=a -c user.email=a@b commit -q --allow-empty -m x"],
        PutBack,
    ),
    route("own cwd", "echo 'echo TEXT > /proc/self/cwd/GATED' > NAME.sh", &["sh NAME.sh"], PutBack),
    route("bash env", SCRIPT, &["BASH_ENV=NAME.sh bash -c true"], PutBack),
    route("a folder", "echo 'rm GATED; mkdir GATED; echo TEXT > GATED/x' > NAME.sh", &["sh NAME.sh"], PutBack),
    route("json tool", "echo '\"TEXT\"' > NAME.json", &["python3 -m json.tool NAME.json GATED"], PutBack),
    route(
        "tar",
        "mkdir -p NAME/gated; echo TEXT > NAME/GATED; tar -C NAME -cf NAME.tar GATED",
        &["tar xf NAME.tar"],
        PutBack,
    ),
    route(
        "zipfile",
        "mkdir -p NAME/gated; echo TEXT > NAME/GATED; (cd NAME; python3 -m zipfile -c ../NAME.zip gated)",
        &["python3 -m zipfile -e NAME.zip ."],
        PutBack,
    ),
    route("awk", "", &["awk 'BEGIN { f = \"gat\" \"ed/NAME\" \".txt\"; print \"TEXT\" > f }'"], PutBack),
    route("substitution", SCRIPT, &["echo $(sh NAME.sh)"], PutBack),
    route("find exec", SCRIPT, &["find . -maxdepth 1 -name NAME.sh -exec sh {} \\;"], PutBack),
    route("many commands", SCRIPT, &["MANY sh NAME.sh"], PutBack),
    route("long heredoc", "", &["cat > NAME.notes <<'EOF'\nNAME LONG\nEOF\necho TEXT > GATED"], Refused),
    route("long look", "", &["cat > /dev/null <<'EOF'\nNAME LONG\nEOF\necho TEXT > GATED"], Refused),
    route(
        "script test",
        "mkdir -p script; printf '#!/bin/sh\\necho TEXT > GATED\\n' > script/test; chmod +x script/test",
        &["script/test"],
        PutBack,
    ),
    route(
        "path ls",
        "mkdir -p NAME; printf '#!/bin/sh\\necho TEXT > GATED\\n' > NAME/ls; chmod +x NAME/ls",
        &["PATH=$PWD/NAME:$PATH ls"],
        PutBack,
    ),
    route(
        "compress program",
        "printf '#!/bin/sh\\necho TEXT > GATED\\ncat\\n' > NAME.sh; chmod +x NAME.sh; seq 200000 | sort -R > NAME.numbers",
        &["sort -S 64k --compress-program=./NAME.sh NAME.numbers > NAME.sorted"],
        PutBack,
    ),
    route(
        "daemon",
        "echo '(sleep 1; echo TEXT > GATED; sleep 1) >/dev/null 2>&1 &' > NAME.sh",
        &["sh NAME.sh", "sleep 3"],
        PutBack,
    ),
    route(
        "popen",
        "printf 'import subprocess\\nsubprocess.Popen([\"sh\",\"-c\",\"sleep 1; echo TEXT > GATED; sleep 1\"],start_new_session=True,stdout=-3,stderr=-3,stdin=-3)\\n' > NAME.py",
        &["python3 NAME.py", "sleep 3"],
        PutBack,
    ),
    route(
        "tmux",
        "echo 'sleep 1; echo TEXT > GATED; sleep 1' > NAME.sh",
        &["tmux -S ../NAME.socket -f /dev/null new-session -d sh NAME.sh", "sleep 3"],
        PutBack,
    ),
    route(
        "nohup",
        "echo 'sleep 1; echo TEXT > GATED; sleep 1' > NAME.sh",
        &["nohup sh NAME.sh >/dev/null 2>&1 &", "sleep 3"],
        PutBack,
    ),
    route("sibling worktree", "", &["git worktree add -q ../NAME && cd ../NAME && echo TEXT > GATED"], Refused),
    route(
        "empty environment",
        "echo 'setsid -f env -i PATH=\"$PATH\" sh -c \"sleep 1; echo TEXT > GATED\" >/dev/null 2>&1' > NAME.sh",
        &["sh NAME.sh", "sleep 2"],
        PutBack,
    ),
    route(
        "stash pop",
        "echo TEXT > GATED; git -c user.name=a -c user.email=a@b stash push --quiet GATED",
        &["git stash pop --quiet"],
        PutBack,
    ),
    route("cwd of the parent", "echo 'echo TEXT > /proc/$PPID/cwd/GATED' > NAME.sh", &["sh NAME.sh"], PutBack),
    route(
        "smudge filter",
        "printf '#!/bin/sh\\ncat\\necho TEXT > GATED\\n' > NAME.sh; chmod +x NAME.sh; echo x > NAME.x; \
         echo 'NAME.x filter=NAME' >> .git/info/attributes; git add NAME.x; \
         git -c user.name=a -c user.email=a@b commit --quiet -m NAME NAME.x; git config filter.NAME.smudge ./NAME.sh",
        &["rm NAME.x && git checkout -- NAME.x"],
        PutBack,
    ),
    route(
        "fsmonitor",
        "printf '#!/bin/sh\\necho TEXT > GATED\\n' > NAME.sh; chmod +x NAME.sh",
        &["git -c core.fsmonitor=./NAME.sh status"],
        PutBack,
    ),
    route(
        "external diff",
        "printf '#!/bin/sh\\necho TEXT > GATED\\n' > NAME.sh; chmod +x NAME.sh; echo x > NAME.x; git add NAME.x; \
         git -c user.name=a -c user.email=a@b commit --quiet -m NAME NAME.x",
        &["echo y > NAME.x", "git -c diff.external=./NAME.sh diff NAME.x"],
        PutBack,
    ),
    route(
        "converter of a diff",
        "printf '#!/bin/sh\\necho TEXT > GATED\\n' > NAME.sh; chmod +x NAME.sh; echo x > NAME.x; git add NAME.x; \
         git -c user.name=a -c user.email=a@b commit --quiet -m NAME NAME.x; echo 'NAME.x diff=NAME' >> .git/info/attributes; git config diff.NAME.textconv ./NAME.sh",
        &["echo y > NAME.x", "git diff NAME.x"],
        PutBack,
    ),
    route("alias", "echo 'echo TEXT > GATED' > NAME.sh; git config alias.NAME '!sh NAME.sh'", &["git NAME"], PutBack),
    route("alias on the line", "echo TEXT > NAME.x", &["git -c alias.NAME='!cp NAME.x GATED' NAME"], Refused),
    route(
        "mounted folder",
        "mkdir NAME; echo 'mount --bind gated NAME && echo TEXT > NAME/NAME.txt' > NAME.sh",
        &["sh NAME.sh"],
        PutBack,
    ),
    route(
        "mounted file",
        "echo 'echo TEXT > NAME.other; mount --bind NAME.other GATED' > NAME.sh",
        &["sh NAME.sh"],
        Failed,
    ),
];
