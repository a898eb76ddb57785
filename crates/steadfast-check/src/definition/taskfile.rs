//! Reads the tasks of a `Taskfile.yml`. It only uses the indentation: a task is the block below its name.

/// Returns the lines of a task without comments, and the tasks that it may call.
pub(crate) fn task(text: &str, name: &str) -> Option<(String, Vec<String>)> {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'));
    lines.by_ref().find(|line| line.trim_end() == "tasks:")?;
    let mut block: Option<Vec<&str>> = None;
    let mut depth = None;
    for line in lines {
        let indent = line.len() - line.trim_start().len();
        if indent == 0 {
            break;
        }
        let tasks = *depth.get_or_insert(indent);
        if indent > tasks {
            if let Some(block) = &mut block {
                block.push(line.trim());
            }
            continue;
        }
        if block.is_some() {
            break;
        }
        if let Some((key, rest)) = line.trim().split_once(": ").or_else(|| Some((line.trim().strip_suffix(':')?, "")))
            && key.trim_matches(['\'', '"']) == name
        {
            block = Some(Vec::from_iter(Some(rest.trim()).filter(|rest| !rest.is_empty())));
        }
    }
    let block = block?;
    let calls = block.iter().flat_map(|line| {
        let line = line.trim_start_matches("- ");
        let list = line.strip_prefix("deps:").or_else(|| line.strip_prefix("task:")).unwrap_or(line);
        let names = list.trim().trim_matches(['[', ']']).split(',');
        names
            .map(|name| name.trim().trim_matches(['\'', '"']).to_owned())
            .filter(|called| !called.is_empty() && called != name)
    });
    Some((block.join("\n"), calls.collect()))
}

/// Returns the command lines of a task's block.
pub(crate) fn commands(block: &str) -> impl Iterator<Item = &str> {
    block.lines().map(|line| {
        let line = line.trim_start_matches("- ");
        let line = line.strip_prefix("cmd:").unwrap_or(line).trim();
        let quoted = ['\'', '"'].iter().find_map(|quote| line.strip_prefix(*quote)?.strip_suffix(*quote));
        quoted.unwrap_or(line)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_the_block_beneath_its_name() {
        let build = "version: '3'\ntasks:\n  build: go build\n\n";
        let test =
            "  test:\n    # all of it\n    deps: [build, lint]\n    cmds:\n      - task: unit\n      - go test ./...\n";
        let text = &format!("{build}{test}  unit:\n    cmds: []\n");
        let (block, calls) = task(text, "test").unwrap();
        assert_eq!(block, "deps: [build, lint]\ncmds:\n- task: unit\n- go test ./...");
        assert_eq!(calls, ["build", "lint", "cmds:", "unit", "go test ./..."]);
        assert_eq!(commands(&block).last(), Some("go test ./..."));
        assert_eq!(task(text, "build").unwrap().0, "go build");
        assert_eq!(task(text, "none"), None);
    }
}
