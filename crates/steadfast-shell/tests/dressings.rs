//! One write, dressed in many ways.

use steadfast_shell::{Context, Decision, effects, judge};

const DENIED: &[&str] = &[
    r"echo x > .claude/settings.json",
    r"echo x >| .claude/settings.json",
    r"echo x &> .claude/settings.json",
    r"echo x >& .claude/settings.json",
    r"echo x 3<> .claude/settings.json",
    r"> .claude/settings.json",
    r"echo x > ./a/../.claude//settings.json",
    r"echo x > /repo/.claude/settings.json",
    r"cd .claude && echo x > settings.json",
    r"(cd .claude; echo x > settings.json)",
    r"pushd .claude; touch settings.json",
    r"echo x > .cla''ude/settings.json",
    r#"echo x > ".claude"/settings.json"#,
    r"echo x > .cl\aude/settings.json",
    r"echo x > $'\x2eclaude/settings.json'",
    r"F=.claude/settings.json; echo x > $F",
    r"D=.claude; echo x > ${D}/settings.json",
    r"echo x > ${NOT_SET:-.claude/settings.json}",
    r"echo x > $(echo .claude/settings.json)",
    r"echo x > `printf '%s' .claude/settings.json`",
    r"echo x | tee -a .claude/settings.json",
    r"echo x | sudo tee .claude/settings.json",
    r"echo x |& tee .claude/settings.json",
    r"cat <<< x | dd of=.claude/settings.json",
    r"/bin/cp a .claude/settings.json",
    r"\cp a .claude/settings.json",
    r"'cp' a .claude/settings.json",
    r"command cp a .claude/settings.json",
    r"env -i A=b cp a .claude/settings.json",
    r"A=b nohup nice -n 3 timeout 5 cp a .claude/settings.json",
    r"busybox cp a .claude/settings.json",
    r"cp -t .claude settings.json",
    r"cp settings.json .claude/",
    r"cp a {b,.claude/settings.json}",
    r"mv .claude old",
    r"rm -rf /repo",
    r"echo .claude/settings.json | xargs rm",
    r"bash -c 'rm .claude/settings.json'",
    r"bash -lc 'rm $1' _ .claude/settings.json",
    r"echo 'rm .claude/settings.json' | sh",
    r"eval rm .claude/settings.json",
    r"sh <<'E'
rm .claude/settings.json
E",
    r"f() { rm $1; }; f .claude/settings.json",
    r"for f in a .claude/settings.json; do rm $f; done",
    r"alias z='rm -f'; z .claude/settings.json",
    r"cat{,} x; rm${IFS}.claude/settings.json",
    r"true && { false || rm .claude/settings.json; }",
    r"if true; then rm .claude/settings.json; fi",
    r"diff <(rm .claude/settings.json) b",
    r"echo x > >(tee .claude/settings.json)",
    r"sed -i.bak s/a/b/ .claude/settings.json",
    r"sed -ni -e s/a/b/ .claude/settings.json",
    r"perl -pi -e s/a/b/ .claude/settings.json",
    r#"awk '{print > ".claude/settings.json"}' a"#,
    r#"node -e "require('fs').writeFileSync('.claude/settings.json', 'x')""#,
    r#"ruby -e "File.open('.claude/settings.json', 'w')""#,
    r#"perl -e "open(F, '>', '.claude/settings.json')""#,
    r#"python3 -c "import os; os.system('rm .claude/settings.json')""#,
    r"curl -so .claude/settings.json http://x",
    r"find .claude -name settings.json -exec cp a .claude/settings.json \;",
    r"ln -s .claude l && echo x > l/settings.json",
    r"git rm -f .claude/settings.json",
];

#[test]
fn every_dressing_is_seen() {
    let context = Context { cwd: "/repo".to_owned(), home: "/home/u".to_owned() };
    let protected = [".claude/".to_owned()];
    let missed: Vec<_> = DENIED
        .iter()
        .map(|command| (judge(&effects(command, &context), &protected).decision, command))
        .filter(|(decision, _)| *decision != Decision::Deny)
        .collect();
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn a_copy_of_a_protected_file_is_no_write_to_it() {
    let context = Context { cwd: "/repo".to_owned(), home: "/home/u".to_owned() };
    let protected = ["SPEC.md".to_owned(), ".claude/".to_owned()];
    for command in [
        "cp SPEC.md /tmp/",
        "cp SPEC.md old",
        "cp -r .claude /tmp/x",
        "tar czf a.tgz .claude",
        "rm *.log",
        "ls > $TMPDIR/a",
    ] {
        assert_eq!(judge(&effects(command, &context), &protected).decision, Decision::Allow, "{command}");
    }
}

#[test]
fn the_word_that_writes_is_pointed_at() {
    let context = Context { cwd: "/repo".to_owned(), home: "/home/u".to_owned() };
    let command = "echo é && cp a SPEC.md";
    let verdict = judge(&effects(command, &context), &["SPEC.md".to_owned()]);
    assert_eq!(verdict.span.map(|span| &command[span]), Some("SPEC.md"));
}
