//! Walks over a command line: tracks folders, variables and functions, and collects effects.

mod effects;

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

use crate::effect::{CommandEffect, Context, Op, UNPARSED};
use crate::expand::Arg;
use crate::invocation::Invocation;
use crate::parse::{End, parse};
use crate::text::{ANY, SPLIT, is_device, is_known, resolve};
use crate::tree::{Assign, Command, Item, List, Mode, Pipeline, Redirect, Value, Word};

/// The maximum number of simple commands, with loops unrolled.
const MAX_COMMANDS: usize = 10_000;
/// The maximum number of links and copies that are tracked.
pub(crate) const MAX_LINKS: usize = 64;
/// The maximum length of a folder's path, in bytes.
const MAX_PATH: usize = 4_096;
/// The maximum nesting of commands, functions and the texts that they run.
const MAX_DEPTH: usize = 80;
/// No pipe and no redirection.
pub(crate) const NO_STDIN: Option<String> = None;
/// The maximum length of text that one command passes to the next, or runs, in bytes.
const MAX_TEXT: usize = 1 << 20;
/// The maximum length of a variable's value, in bytes: it may be copied at every use.
const MAX_VALUE: usize = 1 << 16;
/// The total of text that is passed on and run, in bytes. It bounds loops over long texts, and texts within texts.
const MAX_PASSED: usize = 4 << 20;

/// The state that a subshell copies. The maps are shared until one side writes.
#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    pub(crate) cwd: String,
    /// The elements of an array are separated by `SPLIT`.
    pub(crate) vars: Rc<HashMap<String, String>>,
    pub(crate) positional: Option<Vec<String>>,
    functions: Rc<HashMap<String, Rc<Command>>>,
    pub(crate) aliases: Rc<HashMap<String, String>>,
}

#[derive(Debug)]
pub(crate) struct Walk {
    pub(crate) context: Context,
    pub(crate) state: State,
    pub(crate) effects: Vec<CommandEffect>,
    seen: HashSet<CommandEffect>,
    pub(crate) runs: Vec<Invocation>,
    pub(crate) parsed: bool,
    /// Texts that could not be parsed.
    pub(crate) unread: Vec<String>,
    /// Links that the line created, each with its target.
    pub(crate) links: Vec<(String, String)>,
    /// Copies and links that the line created, each with its source: running the first runs the second.
    pub(crate) copies: Vec<(String, String)>,
    /// Known contents of files that the line wrote.
    pub(crate) files: HashMap<String, String>,
    /// The contents behind `/dev/fd/…` of process substitutions.
    processes: Vec<Option<String>>,
    /// The stdin of the commands in a group.
    stdin: Option<String>,
    /// The file that is redirected to stdin.
    pub(crate) input: Option<String>,
    /// Inside text that is not in the command line, the range of the command line that it comes from.
    fixed: Option<Range<usize>>,
    commands: usize,
    depth: usize,
    /// The number of bytes that were passed on.
    passed: usize,
    /// True while the walk follows a guess.
    guess: bool,
}

impl Walk {
    pub(crate) fn new(context: &Context) -> Self {
        let state = State { cwd: context.cwd.clone(), ..State::default() };
        Self {
            context: context.clone(),
            state,
            effects: Vec::new(),
            seen: HashSet::new(),
            runs: Vec::new(),
            parsed: true,
            unread: Vec::new(),
            links: Vec::new(),
            copies: Vec::new(),
            files: HashMap::new(),
            processes: Vec::new(),
            stdin: None,
            input: None,
            fixed: None,
            commands: 0,
            depth: 0,
            passed: 0,
            guess: false,
        }
    }

    /// Changes the folder. A path that is too long for any system becomes unknown.
    pub(crate) fn go_to(&mut self, folder: String) {
        self.state.cwd = if folder.len() > MAX_PATH { ANY.to_string() } else { folder };
    }

    pub(crate) fn unread(&mut self) {
        self.parsed = false;
    }

    pub(crate) fn span(&self, span: &Range<usize>) -> Range<usize> {
        self.fixed.clone().unwrap_or_else(|| span.clone())
    }

    /// Walks text that a shell would run; returns its output if it is known.
    pub(crate) fn script(&mut self, text: &str, span: &Range<usize>) -> Option<String> {
        if self.depth >= MAX_DEPTH || text.len() > MAX_TEXT || !self.pass(text.len()) {
            self.unread();
            return None;
        }
        let script = parse(text);
        let before = self.fixed.replace(self.span(span));
        let output = self.list(&script.list);
        self.fixed = before;
        if script.end == End::Cut {
            self.unread.push(text.to_owned());
            self.push(Op::Exec, &ANY.to_string(), UNPARSED, span);
            return None;
        }
        output
    }

    /// Returns the output of a substitution.
    pub(crate) fn output_of(&mut self, list: &List) -> String {
        let output = self.in_subshell(|walk| walk.list(list));
        output.map_or_else(|| ANY.to_string(), |text| text.trim_end_matches('\n').to_owned())
    }

    /// Returns the file that stands for `<(…)` or `>(…)`.
    pub(crate) fn process(&mut self, list: &List) -> String {
        let stdin = self.stdin.replace(ANY.to_string());
        let output = self.in_subshell(|walk| walk.list(list));
        self.stdin = stdin;
        self.processes.push(output);
        format!("/dev/fd/{}", 62 + self.processes.len())
    }

    /// Returns the content of a file that the line wrote.
    pub(crate) fn content(&mut self, name: &str) -> Option<String> {
        let content = self.known_content(name)?;
        let content = if self.passed + content.len() <= MAX_PASSED { content.to_owned() } else { ANY.to_string() };
        self.pass(content.len());
        Some(content)
    }

    fn known_content(&self, name: &str) -> Option<&str> {
        match name.strip_prefix("/dev/fd/").map(str::parse::<usize>) {
            Some(Ok(number)) => self.processes.get(number.checked_sub(63)?)?.as_deref(),
            _ => self.files.get(&resolve(name, &self.state.cwd)).map(String::as_str),
        }
    }

    /// Returns the program that a path is a copy of.
    pub(crate) fn copied(&self, name: &str) -> Option<String> {
        let path = resolve(name, &self.state.cwd);
        let from = self.copies.iter().rev().find(|(copy, _)| *copy == path).map(|(_, from)| from.clone());
        from.filter(|from| *from != path && from != name && is_known(from))
    }

    /// Walks in a subshell: folder and variables are restored afterwards.
    pub(crate) fn in_subshell<T>(&mut self, walk: impl FnOnce(&mut Self) -> T) -> T {
        let state = self.state.clone();
        let found = walk(self);
        self.state = state;
        found
    }

    pub(crate) fn list(&mut self, list: &List) -> Option<String> {
        if self.depth >= MAX_DEPTH {
            self.unread();
            return None;
        }
        self.depth += 1;
        let mut whole = Some(String::new());
        for pipeline in list {
            let output = self.pipeline(pipeline);
            whole = whole.zip(output).map(|(head, tail)| head + &tail).filter(|text| text.len() <= MAX_TEXT);
        }
        self.depth -= 1;
        whole
    }

    fn pipeline(&mut self, pipeline: &Pipeline) -> Option<String> {
        if let [one] = pipeline.as_slice() {
            return self.command(one, NO_STDIN);
        }
        let mut input = None;
        for (at, command) in pipeline.iter().enumerate() {
            let stdin = (at > 0).then(|| input.unwrap_or_else(|| ANY.to_string()));
            input = self.in_subshell(|walk| walk.command(command, stdin));
        }
        input
    }

    /// Walks a command. `stdin`: the input from a pipe, with unknown text. `None`: no pipe.
    fn command(&mut self, command: &Command, stdin: Option<String>) -> Option<String> {
        self.commands += 1;
        if self.commands > MAX_COMMANDS || self.depth >= MAX_DEPTH {
            self.unread();
            return None;
        }
        match command {
            Command::Simple { assigns, items, redirects } => {
                self.redirected(redirects, stdin, |walk| walk.simple(assigns, items))
            }
            Command::Group { body, redirects } => self.redirected(redirects, stdin, |walk| walk.list(body)),
            Command::Subshell { body, redirects } => {
                self.redirected(redirects, stdin, |walk| walk.in_subshell(|walk| walk.list(body)))
            }
            Command::For { name, values, body, redirects } => {
                self.redirected(redirects, stdin, |walk| walk.for_each(name, values, body))
            }
            Command::Branch { words, parts, redirects } => {
                self.redirected(redirects, stdin, |walk| walk.branch(words, parts))
            }
            Command::Function { name, body } => {
                Rc::make_mut(&mut self.state.functions).insert(name.clone(), Rc::clone(body));
                Some(String::new())
            }
        }
    }

    fn for_each(&mut self, name: &str, values: &[Word], body: &List) -> Option<String> {
        let mut fields: Vec<Arg> = values.iter().flat_map(|word| self.fields(word)).collect();
        if fields.is_empty() {
            fields.push(Arg { text: ANY.to_string(), span: 0..0 });
        }
        let mut whole = Some(String::new());
        for field in fields {
            self.set(name, field.text);
            let output = self.list(body);
            whole = whole.zip(output).map(|(head, tail)| head + &tail).filter(|text| text.len() <= MAX_TEXT);
        }
        whole
    }

    fn branch(&mut self, words: &[Word], parts: &[List]) -> Option<String> {
        for word in words {
            self.value(word);
        }
        let before = self.state.clone();
        let mut after = Vec::new();
        for (at, part) in parts.iter().enumerate() {
            // The first part of an `if` or a loop always runs; any of the others may run.
            if at > 1 {
                self.state = after.first().unwrap_or(&before).clone();
            }
            self.list(part);
            after.push(self.state.clone());
        }
        after.push(before);
        self.merge(&after);
        None
    }

    /// Merges the states after parts of which any may have run. Values that differ become unknown.
    fn merge(&mut self, states: &[State]) {
        let names: Vec<String> = states.iter().flat_map(|state| state.vars.keys().cloned()).collect();
        for name in names {
            let first = states.first().and_then(|state| state.vars.get(&name));
            if states.iter().any(|state| state.vars.get(&name) != first) {
                self.set(&name, ANY.to_string());
            }
        }
        if states.iter().any(|state| state.cwd != states[0].cwd) {
            self.state.cwd = ANY.to_string();
        }
    }

    /// Runs `inner` with its redirections. Output that goes to a file is not printed; it is kept as the content of that
    /// file.
    fn redirected(
        &mut self,
        redirects: &[Redirect],
        mut stdin: Option<String>,
        inner: impl FnOnce(&mut Self) -> Option<String>,
    ) -> Option<String> {
        let mut written = Vec::new();
        let mut input = if stdin.is_some() { None } else { self.input.clone() };
        for redirect in redirects {
            match redirect {
                Redirect::Write(word) => {
                    for target in self.fields(word) {
                        self.effect(Op::Write, &target, "redirection");
                        written.push(target.text);
                    }
                }
                Redirect::Duplicate(word) => {
                    for target in self.fields(word) {
                        let digits = target.text.trim_end_matches('-');
                        if !digits.bytes().all(|b| b.is_ascii_digit()) {
                            self.effect(Op::Write, &target, "redirection");
                            written.push(target.text);
                        }
                    }
                }
                Redirect::Read(word) => {
                    let files = self.fields(word);
                    let content = files.first().and_then(|file| self.content(&file.text));
                    stdin = Some(content.unwrap_or_else(|| ANY.to_string()));
                    input = files.into_iter().next().map(|file| file.text);
                }
                Redirect::HereString(word) => stdin = Some(self.value(word) + "\n"),
                Redirect::Heredoc(heredoc) => stdin = Some(self.heredoc(heredoc)),
            }
        }
        let before = std::mem::replace(&mut self.input, input);
        let output = match stdin {
            Some(stdin) => {
                let before = self.stdin.replace(stdin);
                let output = inner(self);
                self.stdin = before;
                output
            }
            None => inner(self),
        };
        self.input = before;
        if written.is_empty() {
            return output;
        }
        for name in written {
            self.record_content(&name, output.as_deref());
        }
        None
    }

    /// Records the content of a file. Appended text comes after the previous content.
    pub(crate) fn record_content(&mut self, name: &str, content: Option<&str>) {
        let path = resolve(name, &self.state.cwd);
        if is_device(&path) || !is_known(&path) {
            return;
        }
        match content {
            Some(content) => {
                let file = self.files.entry(path).or_default();
                if file.len() + content.len() <= MAX_TEXT {
                    file.push_str(content);
                } else {
                    *file = ANY.to_string();
                }
            }
            None => {
                self.files.insert(path, ANY.to_string());
            }
        }
    }

    fn simple(&mut self, assigns: &[Assign], items: &[Item]) -> Option<String> {
        let mut args = Vec::new();
        let mut arrays = Vec::new();
        for item in items {
            match item {
                Item::Word(word) => args.extend(self.fields(word)),
                Item::Assign(assign) => arrays.push(assign),
            }
        }
        for assign in arrays {
            self.assignment(assign);
        }
        let vars = (!args.is_empty() && !assigns.is_empty()).then(|| self.state.vars.clone());
        for assign in assigns {
            self.assignment(assign);
        }
        if args.is_empty() {
            return Some(String::new());
        }
        for assign in assigns {
            if let (Value::One(_), Some(value)) = (&assign.value, self.state.vars.get(&assign.name).cloned()) {
                self.named_variable(&assign.name, &value, &args[0]);
            }
        }
        let stdin = self.passed_on();
        let output = self.named(&args, stdin);
        // Assignments before a command hold for that command only.
        if let Some(vars) = vars {
            self.state.vars = vars;
        }
        output
    }

    /// Returns the stdin of a command. It becomes unknown when the total is too large.
    fn passed_on(&mut self) -> Option<String> {
        let length = self.stdin.as_ref()?.len();
        if self.pass(length) { self.stdin.clone() } else { Some(ANY.to_string()) }
    }

    fn pass(&mut self, bytes: usize) -> bool {
        self.passed = self.passed.saturating_add(bytes);
        self.passed <= MAX_PASSED
    }

    fn assignment(&mut self, assign: &Assign) {
        self.text_of(&assign.index, &(0..0));
        let value = match &assign.value {
            Value::One(word) => self.value(word),
            Value::Array(elements) => {
                let mut values = Vec::new();
                for element in elements {
                    self.text_of(&element.index, &element.value.span.clone());
                    values.extend(self.fields(&element.value).into_iter().map(|arg| arg.text));
                }
                values.join(&SPLIT.to_string())
            }
        };
        let is_array = matches!(assign.value, Value::Array(_)) && assign.mode == Mode::Append;
        self.assign(&assign.name, value, if is_array { Mode::Element } else { assign.mode });
    }

    fn named(&mut self, args: &[Arg], stdin: Option<String>) -> Option<String> {
        if self.state.aliases.contains_key(&args[0].text)
            && let Some(text) = Rc::make_mut(&mut self.state.aliases).remove(&args[0].text)
        {
            let rest: String = args[1..].iter().map(|arg| format!(" '{}'", arg.text.replace('\'', "'\\''"))).collect();
            let span = args[0].span.clone();
            let output = self.script(&(text.clone() + &rest), &span);
            Rc::make_mut(&mut self.state.aliases).insert(args[0].text.clone(), text);
            return output;
        }
        if let Some(body) = self.state.functions.get(&args[0].text).cloned() {
            let positional = args[1..].iter().map(|arg| arg.text.clone()).collect();
            let before = self.state.positional.replace(positional);
            self.depth += 1;
            let output = self.command(&body, stdin);
            self.depth -= 1;
            self.state.positional = before;
            return output;
        }
        self.run(args, stdin)
    }

    fn set(&mut self, name: &str, value: String) {
        // A value that doubles again and again is not tracked.
        let value = if value.len() > MAX_VALUE { ANY.to_string() } else { value };
        Rc::make_mut(&mut self.state.vars).insert(name.to_owned(), value);
    }

    pub(crate) fn assign(&mut self, name: &str, value: String, mode: Mode) {
        let value = match (self.state.vars.get(name), mode) {
            (Some(before), Mode::Append) => format!("{before}{value}"),
            (Some(before), Mode::Element) => format!("{before}{SPLIT}{value}"),
            (None, _) | (_, Mode::Set) => value,
        };
        self.set(name, value);
    }

    /// Enters a nested level. `false`: the limit is reached.
    pub(crate) fn enter(&mut self) -> bool {
        if self.depth >= MAX_DEPTH {
            self.unread();
            return false;
        }
        self.depth += 1;
        true
    }

    pub(crate) fn leave(&mut self) {
        self.depth -= 1;
    }
}
