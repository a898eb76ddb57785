//! Reads the targets of a makefile. It does not evaluate conditions: every branch counts.

use std::collections::BTreeMap;

const LONGEST_VALUE: usize = 4 << 10;
const LONGEST_COMMAND: usize = 64 << 10;

#[derive(Debug, Default)]
pub(crate) struct Makefile {
    rules: Vec<Rule>,
    variables: BTreeMap<String, String>,
    pub(crate) includes: Vec<String>,
    /// Functions create rules, or recipes do not begin with a tab.
    generated: bool,
}

#[derive(Debug)]
struct Rule {
    targets: Vec<String>,
    prerequisites: Vec<String>,
    recipe: Vec<String>,
}

impl Makefile {
    pub(crate) fn read(&mut self, text: &str) {
        self.generated |= text.contains("$(eval") || text.contains(".RECIPEPREFIX");
        let mut lines = text.lines();
        let mut open = false;
        while let Some(line) = lines.next() {
            let mut line = line.to_owned();
            while line.ends_with('\\') {
                line.pop();
                let Some(next) = lines.next() else { break };
                line = format!("{} {}", line.trim_end(), next.trim());
            }
            if let (Some(command), true) = (line.strip_prefix('\t'), open) {
                if let Some(rule) = self.rules.last_mut().filter(|_| !command.trim().is_empty()) {
                    rule.recipe.push(command.trim().to_owned());
                }
                continue;
            }
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            if let Some(name) = line.strip_prefix("define ") {
                let body: Vec<&str> = lines.by_ref().take_while(|line| line.trim() != "endef").map(str::trim).collect();
                self.variables.insert(name.trim_end_matches(['=', ':', ' ']).trim().to_owned(), body.join("\n"));
                continue;
            }
            if let Some(files) = ["include ", "-include ", "sinclude "].iter().find_map(|word| line.strip_prefix(word))
            {
                self.includes.extend(files.split_whitespace().map(str::to_owned));
                continue;
            }
            if self.assignment(line) {
                continue;
            }
            open = self.rule(line) || open;
        }
    }

    fn assignment(&mut self, line: &str) -> bool {
        let line = ["export ", "override "].iter().fold(line, |line, word| line.strip_prefix(word).unwrap_or(line));
        let Some((name, value)) = line.split_once('=') else { return false };
        let adds = name.ends_with('+');
        let name = name.trim_end_matches([':', '?', '+', '!', ' ', '\t']).trim();
        if name.is_empty() || name.contains([':', ' ', '\t']) {
            return false;
        }
        let known = self.variables.entry(name.to_owned()).or_default();
        *known = if adds && !known.is_empty() { format!("{known} {}", value.trim()) } else { value.trim().to_owned() };
        true
    }

    fn rule(&mut self, line: &str) -> bool {
        let Some((targets, rest)) = line.split_once(':') else { return false };
        let rest = rest.trim_start_matches(':');
        let (prerequisites, command) = rest.split_once(';').unwrap_or((rest, ""));
        let mut recipe = Vec::from_iter(Some(command.trim().to_owned()).filter(|command| !command.is_empty()));
        let mut names = Vec::new();
        if prerequisites.contains('=') {
            // A variable for one target is part of its recipe.
            recipe.push(rest.trim().to_owned());
        } else {
            names.extend(
                prerequisites.split_whitespace().filter(|word| *word != "|").flat_map(|word| self.expand(word)),
            );
        }
        let targets = targets.split_whitespace().flat_map(|word| self.expand(word)).collect();
        self.rules.push(Rule { targets, prerequisites: names, recipe });
        true
    }

    /// Replaces a variable by the words in it.
    fn expand(&self, word: &str) -> Vec<String> {
        match variable_of(word).and_then(|name| self.variables.get(name)) {
            Some(value) => value.split_whitespace().map(str::to_owned).collect(),
            None => vec![word.to_owned()],
        }
    }

    pub(crate) fn first(&self) -> Option<&str> {
        let said = self.variables.get(".DEFAULT_GOAL").map(String::as_str);
        let plain = |target: &&String| !target.starts_with('.') && !target.contains('%');
        said.or_else(|| self.rules.iter().flat_map(|rule| &rule.targets).find(plain).map(String::as_str))
    }

    /// Returns the recipe of a target and its prerequisites. `None`: no rule names it.
    pub(crate) fn target(&self, name: &str) -> Option<(String, Vec<String>)> {
        let named = |rule: &&Rule| rule.targets.iter().any(|target| target == name);
        let mut rules: Vec<(&Rule, Option<&str>)> = self.rules.iter().filter(named).map(|rule| (rule, None)).collect();
        if !rules.iter().any(|(rule, _)| !rule.recipe.is_empty()) {
            let by_pattern = |rule| self.stem(rule, name).map(|stem| (rule, Some(stem)));
            rules.extend(self.rules.iter().find_map(by_pattern));
        }
        if rules.is_empty() {
            return None;
        }
        let recipe: Vec<&str> = rules.iter().flat_map(|(rule, _)| &rule.recipe).map(String::as_str).collect();
        let before = rules
            .iter()
            .flat_map(|(rule, stem)| rule.prerequisites.iter().map(move |name| name.replace('%', stem.unwrap_or("%"))));
        Some((recipe.join("\n"), before.collect()))
    }

    /// Returns the text that `%` stands for, if a pattern matches. A pattern that matches everything is for files, and
    /// does not count.
    fn stem<'a>(&self, rule: &Rule, name: &'a str) -> Option<&'a str> {
        let fits = |target: &String| {
            let (before, after) =
                target.split_once('%').filter(|(before, after)| !before.is_empty() || !after.is_empty())?;
            name.strip_prefix(before)?.strip_suffix(after).filter(|stem| !stem.is_empty())
        };
        rule.targets.iter().find_map(fits)
    }

    /// Returns the settings that change how every recipe runs: another shell, `-i`, ignored failures.
    pub(crate) fn manner(&self) -> Vec<(String, String)> {
        let variables = ["SHELL", ".SHELLFLAGS", "MAKEFLAGS"].into_iter();
        let variables =
            variables.filter_map(|name| Some((format!("variable `{name}`"), self.variables.get(name)?.clone())));
        let ignored = self.target(".IGNORE").map(|(_, names)| ("target `.IGNORE`".to_owned(), names.join(" ")));
        variables.chain(ignored).collect()
    }

    /// Returns whether the text does not show all rules.
    pub(crate) fn is_generated(&self) -> bool {
        self.generated
    }

    /// Returns whether make treats the target as a file, although its recipe does not create one. A file of that name
    /// then replaces the recipe.
    pub(crate) fn is_treated_as_file(&self, name: &str) -> bool {
        let phony = self.target(".PHONY").is_some_and(|(_, names)| names.iter().any(|phony| phony == name));
        let makes = |recipe: String| {
            let signs = ["$@".to_owned(), format!("-o {name}"), format!("> {name}"), format!(">{name}")];
            signs.iter().any(|sign| recipe.contains(sign))
        };
        !phony && !self.target(name).is_some_and(|(recipe, _)| makes(recipe))
    }

    /// Expands the variables in a command, to find the programs that it runs.
    pub(crate) fn filled(&self, command: &str) -> String {
        let mut text = command.replace("$(MAKE)", "make").replace("${MAKE}", "make");
        // Variables may contain others. The limit ends circles.
        for _ in 0..3 {
            if !text.contains("$(") && !text.contains("${") {
                break;
            }
            for (name, value) in self.variables.iter().filter(|(_, value)| value.len() < LONGEST_VALUE) {
                text = text.replace(&format!("$({name})"), value).replace(&format!("${{{name}}}"), value);
            }
            text.truncate(text.floor_char_boundary(LONGEST_COMMAND));
        }
        text.replace("$$", "$")
    }

    /// Returns the variable that names the program of a command, with its text. A variable in an argument does not
    /// count, because lists of sources change.
    pub(crate) fn program<'a>(&'a self, command: &'a str) -> Option<(&'a str, &'a str)> {
        let word = plain_command(command).split_whitespace().next()?;
        let name = variable_of(word).filter(|name| *name != "MAKE")?;
        self.variables.get_key_value(name).map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

/// Removes make's prefixes from a line of a recipe.
pub(crate) fn plain_command(line: &str) -> &str {
    line.trim_start_matches(['@', '-', '+', ' ', '\t'])
}

/// Returns the name in `$(NAME)` or `${NAME}`.
fn variable_of(word: &str) -> Option<&str> {
    let inside = word.strip_prefix("$(").and_then(|word| word.strip_suffix(')'));
    inside.or_else(|| word.strip_prefix("${")?.strip_suffix('}'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Makefile {
        let mut makefile = Makefile::default();
        makefile.read(text);
        makefile
    }

    #[test]
    fn a_target_has_its_recipe_and_what_comes_before() {
        let before = ".PHONY: test\nRUN := pytest # the runner\nALL = a b\n";
        let rules = "test: build $(ALL) | order\n\t@$(RUN) \\\n\t  -q\n\n\t-lint\nbuild: ; cc x.c\n";
        let makefile = read(&format!("{before}{rules}"));
        assert_eq!(makefile.first(), Some("test"));
        let before = ["build", "a", "b", "order"].map(str::to_owned).to_vec();
        assert_eq!(makefile.target("test"), Some(("@$(RUN) -q\n-lint".to_owned(), before)));
        assert_eq!(makefile.target("build"), Some(("cc x.c".to_owned(), vec![])));
        assert_eq!(makefile.target("other"), None);
        assert_eq!(makefile.program("@$(RUN) -q"), Some(("RUN", "pytest")));
    }

    #[test]
    fn a_pattern_fits_a_target_that_nobody_names() {
        let makefile = read("test-%: prepare-%\n\trun $*\n%: other\n\tx\n");
        assert_eq!(makefile.target("test-unit"), Some(("run $*".to_owned(), vec!["prepare-unit".to_owned()])));
        assert_eq!(makefile.target("unit"), None);
    }

    #[test]
    fn a_variable_for_one_target_is_a_part_of_it() {
        assert_eq!(
            read("test: SHELL = /bin/true\ntest:\n\tpytest\n").target("test").unwrap().0,
            "SHELL = /bin/true\npytest"
        );
    }

    #[test]
    fn variables_are_filled_in_and_a_circle_ends() {
        let makefile = read("PY = $(BIN)/python\nBIN = .venv/bin\nX = a$(X)\n");
        assert_eq!(makefile.filled("${PY} x.py $$HOME"), ".venv/bin/python x.py $HOME");
        assert_eq!(makefile.filled("$(X)"), "aaa$(X)");
    }

    #[test]
    fn how_every_recipe_is_run_is_told() {
        let makefile = read("SHELL := /bin/true\nMAKEFLAGS += -i\n.IGNORE: test\n");
        let told = [("variable `SHELL`", "/bin/true"), ("variable `MAKEFLAGS`", "-i"), ("target `.IGNORE`", "test")];
        assert_eq!(makefile.manner(), told.map(|(what, text)| (what.to_owned(), text.to_owned())));
    }

    proptest! {
        #[test]
        fn any_text_is_read(text: String) {
            let makefile = read(&text);
            makefile.first().and_then(|name| makefile.target(name));
            makefile.filled(&text);
        }
    }
}
