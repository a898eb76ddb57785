//! Reads the recipes of a justfile.

#[derive(Debug, Default)]
pub(crate) struct Justfile {
    recipes: Vec<Recipe>,
    aliases: Vec<(String, String)>,
    /// The shell that runs every line, if the file sets one.
    pub(crate) shell: Option<String>,
    pub(crate) imports: Vec<String>,
}

#[derive(Debug)]
struct Recipe {
    name: String,
    before: Vec<String>,
    body: Vec<String>,
}

impl Justfile {
    pub(crate) fn read(&mut self, text: &str) {
        let mut open = false;
        for line in text.lines() {
            if line.starts_with([' ', '\t']) {
                if let (Some(recipe), true, false) = (self.recipes.last_mut(), open, line.trim().is_empty()) {
                    recipe.body.push(line.trim().to_owned());
                }
                continue;
            }
            let line = line.trim();
            if line.is_empty() || line.starts_with(['#', '[']) {
                continue;
            }
            open = false;
            if let Some((name, of)) = line.strip_prefix("alias ").and_then(|alias| alias.split_once(":=")) {
                self.aliases.push((name.trim().to_owned(), of.trim().to_owned()));
            } else if let Some(shell) = line.strip_prefix("set shell") {
                self.shell = Some(shell.trim_start_matches([' ', ':', '=']).to_owned());
            } else if let Some(path) = line.strip_prefix("import").filter(|path| path.starts_with([' ', '?'])) {
                self.imports.push(path.trim_matches(['?', ' ', '\'', '"']).to_owned());
            } else if let Some(recipe) = recipe(line) {
                self.recipes.push(recipe);
                open = true;
            }
        }
    }

    pub(crate) fn first(&self) -> Option<&str> {
        self.recipes.first().map(|recipe| recipe.name.as_str())
    }

    /// Returns the lines of a recipe, and the recipes that run with it.
    pub(crate) fn recipe(&self, name: &str) -> Option<(String, &[String])> {
        let name = self.aliases.iter().find(|(alias, _)| alias == name).map_or(name, |(_, of)| of);
        let found = self.recipes.iter().find(|recipe| recipe.name == name)?;
        Some((found.body.join("\n"), &found.before))
    }
}

fn recipe(line: &str) -> Option<Recipe> {
    let (head, rest) = line.split_once(':').filter(|(_, rest)| !rest.starts_with('='))?;
    let name = head.split_whitespace().next()?.trim_start_matches('@').to_owned();
    let words = rest.split('#').next().unwrap_or_default().split(['(', ')', ' ', '\t']);
    // Arguments of dependencies look like recipes here; looking them up finds nothing.
    let before = words.filter(|word| !word.is_empty() && *word != "&&").map(str::to_owned).collect();
    Some(Recipe { name, before, body: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recipe_has_its_lines_and_what_runs_with_it() {
        let mut justfile = Justfile::default();
        justfile.read("set shell := ['sh']\nx := '1'\nimport 'more.just'\nalias t := test\n\n# all\n");
        justfile.read("@test arg='y': build (lint 'x') && last\n  pytest {{arg}}\n\n  echo done\nbuild:\n\tcc\n");
        assert_eq!(justfile.first(), Some("test"));
        let before = ["build", "lint", "'x'", "last"].map(str::to_owned);
        assert_eq!(justfile.recipe("t"), Some(("pytest {{arg}}\necho done".to_owned(), &before[..])));
        assert_eq!(justfile.recipe("build").unwrap().0, "cc");
        assert_eq!(justfile.imports, ["more.just"]);
        assert_eq!(justfile.shell.as_deref(), Some("['sh']"));
        assert_eq!(justfile.recipe("none"), None);
    }
}
