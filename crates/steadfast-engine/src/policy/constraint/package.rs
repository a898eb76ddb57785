//! Reads package managers: what a command installs, and the options with values before its verb.

use steadfast_words::WordList;

use super::program::{has, operands};
use super::run::Run;

/// A line per program: its name, a tab, its options with a value.
const OPTIONS: &str = include_str!("options.txt");

/// Programs that take the options of another.
const ALIKE: [(&str, &str); 10] = [
    ("pip3", "pip"),
    ("gradlew", "gradle"),
    ("mvnw", "mvn"),
    ("gmake", "make"),
    ("bundler", "bundle"),
    ("micromamba", "mamba"),
    ("tofu", "terraform"),
    ("yarnpkg", "yarn"),
    ("rye", "pdm"),
    ("pnpx", "pnpm"),
];

fn alike(program: &str) -> &str {
    ALIKE.iter().find(|(name, _)| *name == program).map_or(program, |(_, like)| like)
}

/// Returns the options of a program that take the next word.
fn valued(program: &str) -> impl Iterator<Item = &'static str> + use<> {
    let program = alike(program).to_owned();
    let line = OPTIONS.lines().find_map(move |line| line.strip_prefix(program.as_str())?.strip_prefix('\t'));
    line.unwrap_or_default().split(' ')
}

/// Removes the options that only say where and how, which leaves the program, the verb and its arguments. Words after
/// `--` belong to another program and stay.
pub(super) fn plain(mut run: Run) -> Run {
    let Some(program) = run.first().cloned() else { return run };
    let mut options = valued(&program).filter(|option| !option.is_empty()).peekable();
    if options.peek().is_none() {
        return run;
    }
    let options: Vec<&str> = options.collect();
    let end = run.iter().position(|word| word == "--").unwrap_or(run.len());
    let mut at = 1;
    let mut left = end;
    while at < left {
        let takes = options.contains(&run[at].as_str());
        // `cargo +nightly add`.
        let toolchain = at == 1 && program == "cargo" && run[at].starts_with('+');
        let removed = if takes { 2.min(left - at) } else { usize::from(toolchain) };
        if removed == 0 {
            at += 1;
            continue;
        }
        run.drain(at..at + removed);
        left -= removed;
    }
    // `yarn workspace web add x`, `composer global require x`: callers need these words.
    if program.starts_with("yarn") && run.get(1).is_some_and(|word| word == "workspace") && run.len() > 3 {
        run.drain(1..3);
    }
    if program.starts_with("yarn")
        && run.get(1).is_some_and(|word| word == "workspaces")
        && run.get(2).is_some_and(|word| matches!(word.as_str(), "foreach" | "run"))
    {
        run.drain(1..3);
        while run.get(1).is_some_and(|word| word.starts_with('-')) {
            run.remove(1);
        }
        if run.get(1).is_some_and(|word| word == "exec") {
            run.drain(..2);
        }
    }
    run
}

/// The kind of an installation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Installs {
    /// A package that is not yet a dependency of the project.
    New,
    /// An existing dependency of the project, or a tool beside it.
    Other,
    /// Exactly the packages of the project's lock file, which changes no file of the project.
    Locked,
}

/// The names of npm's verb `install`.
const NPM_INSTALL: WordList = words!("npm install");

/// Verbs that add the packages named after them.
const ADDS: [(&str, &[&str]); 23] = [
    ("npm", &["add"]),
    ("pnpm", &["add", "install", "i"]),
    ("yarn", &["add"]),
    ("bun", &["add", "a", "install", "i"]),
    ("deno", &["add", "install", "i"]),
    ("cargo", &["add"]),
    ("uv", &["add"]),
    ("poetry", &["add"]),
    ("pdm", &["add"]),
    ("pixi", &["add"]),
    ("bundle", &["add"]),
    ("go", &["get"]),
    ("composer", &["require"]),
    ("gem", &["install", "i"]),
    ("elm", &["install"]),
    ("luarocks", &["install"]),
    ("opam", &["install"]),
    ("nimble", &["install", "add"]),
    ("bower", &["install", "i"]),
    ("expo", &["install"]),
    ("ember", &["install"]),
    ("lerna", &["add"]),
    ("jspm", &["install"]),
];

pub(super) fn installs(run: &Run) -> Option<Installs> {
    let (program, rest) = run.split_first()?;
    let program = alike(program);
    let mut words = operands(rest);
    let verb = words.next().map_or("", String::as_str);
    let second = words.next().map_or("", String::as_str);
    // The project itself and its own packages are not new.
    let named = operands(rest).skip(1).any(|word| !matches!(word.as_str(), "." | "./" | "./..."));
    let global = has(rest, &["-g", "--global", "global"]);
    let new = |named: bool| Some(if named && !global { Installs::New } else { Installs::Other });
    let frozen = has(rest, &["--frozen-lockfile", "--immutable", "--frozen", "--locked", "--deployment"]);

    if ADDS.iter().any(|(name, verbs)| *name == program && verbs.contains(&verb)) {
        return if frozen && !named { Some(Installs::Locked) } else { new(named) };
    }
    match (program, verb) {
        ("npm", verb) if NPM_INSTALL.contains(verb) => new(named),
        ("npm", "ci" | "clean-install" | "ic" | "install-clean") => Some(Installs::Locked),
        // `npm pkg set dependencies.x=1`.
        ("npm" | "pnpm" | "yarn" | "bun", "pkg") => {
            let dependency = |word: &String| {
                let key = word.split('=').next().unwrap_or(word);
                key.split(['.', '[']).next().is_some_and(|first| first.to_lowercase().ends_with("dependencies"))
            };
            (second == "set" && rest.iter().any(dependency)).then_some(Installs::New)
        }
        ("npm" | "pnpm" | "yarn", "link" | "ln") => named.then_some(Installs::New),
        ("yarn", "install" | "") if !has(rest, &["--version", "-v"]) => {
            Some(if frozen { Installs::Locked } else { Installs::Other })
        }
        ("yarn", "global") => Some(Installs::Other),
        ("go", "mod") => match second {
            "edit" => {
                rest.iter().any(|word| word.contains("-require") || word.contains("-tool=")).then_some(Installs::New)
            }
            "download" => Some(Installs::Locked),
            _ => None,
        },
        ("composer", "global") => Some(Installs::Other),
        ("composer" | "poetry" | "bundle", "install") => Some(Installs::Locked),
        ("cargo", "fetch") | ("dotnet", "restore") | ("mix", "deps.get") => Some(Installs::Locked),
        ("dotnet", "add") => rest.iter().any(|word| word == "package").then_some(Installs::New),
        ("dotnet", "package") => (second == "add").then_some(Installs::New),
        ("dotnet", "tool") => (second == "install").then_some(Installs::Other),
        ("dart" | "flutter", "pub") => match second {
            "add" => Some(Installs::New),
            "get" => Some(Installs::Locked),
            _ => None,
        },
        ("swift", "package") => (second == "add-dependency").then_some(Installs::New),
        ("vcpkg", "add") => Some(Installs::New),
        ("pip" | "pipenv" | "conda" | "mamba", "install") => Some(of_packages(rest)),
        ("cpanm" | "easy_install", verb) => (!verb.is_empty()).then_some(Installs::New),
        ("uv", "pip") => (second == "install").then(|| of_packages(rest)),
        ("uv", "sync") => Some(if frozen { Installs::Locked } else { Installs::Other }),
        ("cargo" | "brew" | "apt" | "apt-get" | "dnf" | "yum" | "pacman" | "snap" | "go", "install")
        | ("apk", "add")
        | ("uv", "tool")
        | ("pod" | "vcpkg" | "pipx", "install") => Some(Installs::Other),
        _ => None,
    }
}

/// Returns what `install` of pip and similar programs names: a package, a list of packages, or the project itself.
fn of_packages(rest: &[String]) -> Installs {
    let mut words = rest.iter().skip_while(|word| *word != "install").skip(1);
    let mut listed = false;
    while let Some(word) = words.next() {
        match word.as_str() {
            "-r" | "-c" | "-e" | "--requirement" | "--constraint" | "--editable" => {
                listed = true;
                words.next();
            }
            word if word.starts_with('-') || word.starts_with('.') || word.starts_with('/') => {}
            _ => return Installs::New,
        }
    }
    if listed { Installs::Locked } else { Installs::Other }
}

#[cfg(test)]
mod tests {
    use super::super::run::runs_of;
    use super::*;

    fn of(line: &str) -> Option<Installs> {
        runs_of(line).iter().find_map(installs)
    }

    #[test]
    fn options_before_the_verb_hide_nothing() {
        for line in [
            "pnpm --filter web add x",
            "pnpm --filter=web add x",
            "pnpm -C web add x",
            "pnpm -F web -D add x",
            "pnpm --dir web i x",
            "pnpm -r add x",
            "npm -w web i x",
            "npm --prefix web install x",
            "npm --prefix=web install x",
            "npm --loglevel silent --workspace web add -D x",
            "npm isntall x",
            "npm install-test x",
            "npm i x --prefix web",
            "yarn workspace web add x",
            "yarn --cwd web add x",
            "yarn workspaces foreach -A add x",
            "yarn workspaces foreach --from 'a' exec npm i x",
            "bun --cwd web add x",
            "bun a x",
            "uv --directory web add x",
            "uv --project web --quiet add x",
            "uv --directory web pip install x",
            "poetry -C web add x",
            "poetry --directory web add -G dev x",
            "pdm -p web add x",
            "go -C web get example.com/x",
            "go mod edit -require=example.com/x@v1.0.0",
            "go mod edit -require example.com/x@v1.0.0",
            "go -C web mod edit -require=x@v1",
            "cargo +nightly add x",
            "cargo +nightly --config a=b add x",
            "cargo --manifest-path web/Cargo.toml add x",
            "cargo add -p web x",
            "npm pkg set dependencies.x=1",
            "npm pkg set 'devDependencies[x]=1'",
            "npm -w web pkg set peerDependencies.x=1",
            "deno add npm:x",
            "deno --config deno.json add jsr:@std/x",
            "deno install npm:x",
            "gem install x",
            "gem install x -v 1.2",
            "bundle --gemfile web/Gemfile add x",
            "composer -d web require a/b",
            "composer --working-dir web require a/b",
            "dotnet add web package X",
            "dotnet package add X",
            "pip --proxy http://p install x",
            "pip3 install -i https://pypi.example x",
            "python3 -m pip --quiet install x",
            "conda install -n env x",
            "pixi add x",
            "flutter pub add x",
            "swift package --package-path a add-dependency https://x",
            "npx expo install x",
            "corepack pnpm add x",
            "npx -y pnpm@9 add x",
        ] {
            assert_eq!(of(line), Some(Installs::New), "{line}");
        }
    }

    #[test]
    fn what_the_project_wants_already_is_nothing_new() {
        for (line, installs) in [
            ("npm install", Installs::Other),
            ("npm install --prefix web", Installs::Other),
            ("npm -w web install", Installs::Other),
            ("npm install -g x", Installs::Other),
            ("npm ci", Installs::Locked),
            ("npm ci --prefix web", Installs::Locked),
            ("pnpm --filter web install", Installs::Other),
            ("pnpm install --frozen-lockfile", Installs::Locked),
            ("yarn", Installs::Other),
            ("yarn install --immutable", Installs::Locked),
            ("pip install -r requirements.txt", Installs::Locked),
            ("pip install -e .", Installs::Locked),
            ("go get ./...", Installs::Other),
            ("cargo install ripgrep", Installs::Other),
            ("composer install", Installs::Locked),
            ("bundle install", Installs::Locked),
            ("uv sync", Installs::Other),
        ] {
            assert_eq!(of(line), Some(installs), "{line}");
        }
        for line in [
            "npm run add x",
            "npm test",
            "pnpm --filter web test",
            "cargo +nightly build",
            "npm pkg get dependencies.x",
            "npm pkg set scripts.test=jest",
            "go mod tidy",
            "go mod edit -go=1.22",
            "yarn test",
            "yarn --version",
            "uv run pytest",
            "gem list",
        ] {
            assert_eq!(of(line), None, "{line}");
        }
    }
}
