//! The walk over a command line: folders, variables and functions as they come, effects as they are found.

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use crate::effect::{Certainty, Context, Effect, Op};
use crate::expand::Arg;
use crate::parse;
use crate::text::{ANY, is_device, is_known, resolve, shown};
use crate::tree::{Assign, Command, Item, List, Pipeline, Redirect};

/// The most simple commands that are walked, loops unrolled.
const MAX_COMMANDS: usize = 2000;
const MAX_DEPTH: usize = 24;

/// What a subshell has its own copy of.
#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    pub(crate) cwd: String,
    pub(crate) vars: HashMap<String, String>,
    pub(crate) positional: Option<Vec<String>>,
    functions: HashMap<String, Rc<Command>>,
    pub(crate) aliases: HashMap<String, String>,
}

#[derive(Debug)]
pub(crate) struct Walk {
    pub(crate) context: Context,
    pub(crate) state: State,
    pub(crate) effects: Vec<Effect>,
    pub(crate) parsed: bool,
    /// Links made on the way: a write to the first is one to the second.
    pub(crate) links: Vec<(String, String)>,
    /// Inside text that is not the command line itself, what of the command line says it.
    fixed: Option<Range<usize>>,
    commands: usize,
    depth: usize,
}

impl Walk {
    pub(crate) fn new(context: &Context) -> Self {
        let state = State { cwd: context.cwd.clone(), ..State::default() };
        Self {
            context: context.clone(),
            state,
            effects: Vec::new(),
            parsed: true,
            links: Vec::new(),
            fixed: None,
            commands: 0,
            depth: 0,
        }
    }

    pub(crate) fn unread(&mut self) {
        self.parsed = false;
    }

    pub(crate) fn span(&self, span: &Range<usize>) -> Range<usize> {
        self.fixed.clone().unwrap_or_else(|| span.clone())
    }

    /// Walks text that a shell would run, and says what it would print when that is known.
    pub(crate) fn script(&mut self, text: &str, span: &Range<usize>) -> Option<String> {
        if self.depth >= MAX_DEPTH {
            self.unread();
            return None;
        }
        let Some(list) = parse::parse(text) else {
            self.push(Op::Exec, &ANY.to_string(), "text that could not be parsed", span);
            return None;
        };
        let before = self.fixed.replace(self.span(span));
        self.depth += 1;
        let output = self.list(&list);
        self.depth -= 1;
        self.fixed = before;
        output
    }

    /// What a substitution gives.
    pub(crate) fn output_of(&mut self, body: &str, span: &Range<usize>) -> String {
        let state = self.state.clone();
        let output = self.script(body, span);
        self.state = state;
        output.map_or_else(|| ANY.to_string(), |text| text.trim_end_matches('\n').to_owned())
    }

    pub(crate) fn list(&mut self, list: &List) -> Option<String> {
        let mut whole = Some(String::new());
        for pipeline in list {
            let output = self.pipeline(pipeline);
            whole = whole.zip(output).map(|(head, tail)| head + &tail);
        }
        whole
    }

    fn pipeline(&mut self, pipeline: &Pipeline) -> Option<String> {
        let mut input = None;
        if let [one] = pipeline.as_slice() {
            return self.command(one, None);
        }
        for (at, command) in pipeline.iter().enumerate() {
            let state = self.state.clone();
            let stdin = (at > 0).then(|| input.unwrap_or_else(|| ANY.to_string()));
            input = self.command(command, stdin);
            self.state = state;
        }
        input
    }

    /// `stdin`: what a pipe brings, unknown text included. `None`: no pipe.
    fn command(&mut self, command: &Command, stdin: Option<String>) -> Option<String> {
        self.commands += 1;
        if self.commands > MAX_COMMANDS || self.depth >= MAX_DEPTH {
            self.unread();
            return None;
        }
        match command {
            Command::Simple { assigns, items, redirects } => {
                let stdin = self.redirects(redirects, stdin);
                self.simple(assigns, items, stdin).filter(|_| !writes(redirects))
            }
            Command::Group { body, redirects } => {
                self.redirects(redirects, stdin);
                self.list(body).filter(|_| !writes(redirects))
            }
            Command::Subshell { body, redirects } => {
                self.redirects(redirects, stdin);
                let state = self.state.clone();
                let output = self.list(body);
                self.state = state;
                output.filter(|_| !writes(redirects))
            }
            Command::For { name, values, body, redirects } => {
                self.redirects(redirects, stdin);
                let mut fields: Vec<Arg> = values.iter().flat_map(|word| self.fields(word)).collect();
                if fields.is_empty() {
                    fields.push(Arg { text: ANY.to_string(), span: 0..0 });
                }
                for field in fields {
                    self.state.vars.insert(name.clone(), field.text);
                    self.list(body);
                }
                None
            }
            Command::Branch { words, parts, redirects } => {
                self.redirects(redirects, stdin);
                for word in words {
                    self.value(word);
                }
                let before = self.state.clone();
                let mut after = Vec::new();
                for (at, part) in parts.iter().enumerate() {
                    // The first part of an `if` or a loop always runs; of the others any may.
                    if at > 1 {
                        self.state = after[0..1].first().cloned().unwrap_or_else(|| before.clone());
                    }
                    self.list(part);
                    after.push(self.state.clone());
                }
                after.push(before);
                self.merge(&after);
                None
            }
            Command::Function { name, body } => {
                self.state.functions.insert(name.clone(), Rc::clone(body));
                Some(String::new())
            }
        }
    }

    /// After parts of which any may have run: what they do not agree on is unknown.
    fn merge(&mut self, states: &[State]) {
        let names: Vec<String> = states.iter().flat_map(|state| state.vars.keys().cloned()).collect();
        for name in names {
            let first = states.first().and_then(|state| state.vars.get(&name));
            if states.iter().any(|state| state.vars.get(&name) != first) {
                self.state.vars.insert(name, ANY.to_string());
            }
        }
        if states.iter().any(|state| state.cwd != states[0].cwd) {
            self.state.cwd = ANY.to_string();
        }
    }

    /// The effects of redirections, and what they bring on stdin.
    fn redirects(&mut self, redirects: &[Redirect], mut stdin: Option<String>) -> Option<String> {
        for redirect in redirects {
            match redirect {
                Redirect::Write(word) => {
                    for target in self.fields(word) {
                        self.effect(Op::Write, &target, "redirection");
                    }
                }
                Redirect::Duplicate(word) => {
                    for target in self.fields(word) {
                        let digits = target.text.trim_end_matches('-');
                        if !digits.bytes().all(|b| b.is_ascii_digit()) {
                            self.effect(Op::Write, &target, "redirection");
                        }
                    }
                }
                Redirect::Read(word) => {
                    self.fields(word);
                    stdin = Some(ANY.to_string());
                }
                Redirect::HereString(word) => stdin = Some(self.value(word) + "\n"),
                Redirect::Heredoc { body, expands: true, span } => stdin = Some(self.heredoc(body, span)),
                Redirect::Heredoc { body, .. } => stdin = Some(body.clone()),
                Redirect::Process(body) => {
                    self.list(body);
                }
            }
        }
        stdin
    }

    fn simple(&mut self, assigns: &[Assign], items: &[Item], stdin: Option<String>) -> Option<String> {
        let mut args = Vec::new();
        for item in items {
            match item {
                Item::Word(word) => args.extend(self.fields(word)),
                Item::Process(body) => {
                    let state = self.state.clone();
                    self.list(body);
                    self.state = state;
                    args.push(Arg { text: "/dev/fd/63".to_owned(), span: 0..0 });
                }
            }
        }
        let vars = (!args.is_empty() && !assigns.is_empty()).then(|| self.state.vars.clone());
        for assign in assigns {
            let values: Vec<String> = assign.values.iter().map(|word| self.value(word)).collect();
            self.assign(&assign.name, values.join(" "), assign.append);
        }
        if args.is_empty() {
            return Some(String::new());
        }
        let output = self.named(&args, stdin);
        // What stands before a command is known to that command alone.
        if let Some(vars) = vars {
            self.state.vars = vars;
        }
        output
    }

    fn named(&mut self, args: &[Arg], stdin: Option<String>) -> Option<String> {
        if let Some(text) = self.state.aliases.remove(&args[0].text) {
            let rest: String = args[1..].iter().map(|arg| format!(" '{}'", arg.text.replace('\'', "'\\''"))).collect();
            let span = args[0].span.clone();
            let output = self.script(&(text.clone() + &rest), &span);
            self.state.aliases.insert(args[0].text.clone(), text);
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

    pub(crate) fn assign(&mut self, name: &str, value: String, append: bool) {
        let value = match self.state.vars.get(name) {
            Some(before) if append => format!("{before} {value}"),
            _ => value,
        };
        self.state.vars.insert(name.to_owned(), value);
    }

    pub(crate) fn effect(&mut self, op: Op, target: &Arg, via: &str) {
        let path = resolve(&target.text, &self.state.cwd);
        if is_device(&path) {
            return;
        }
        self.push(op, &path, via, &target.span);
        if !self.links.is_empty() {
            let through: Vec<String> = self
                .links
                .iter()
                .filter_map(|(link, target)| {
                    let rest = path.strip_prefix(link.as_str())?;
                    (rest.is_empty() || rest.starts_with('/')).then(|| format!("{target}{rest}"))
                })
                .collect();
            for target_path in through {
                self.push(op, &target_path, via, &target.span);
            }
        }
    }

    /// A path that is read from the text, and may be another.
    pub(crate) fn possible(&mut self, op: Op, path: &str, via: &str, span: &Range<usize>) {
        let effect = Effect {
            op,
            path: Some(shown(path)),
            via: via.to_owned(),
            certainty: Certainty::Possible,
            span: self.span(span),
        };
        if !self.effects.contains(&effect) {
            self.effects.push(effect);
        }
    }

    pub(crate) fn push(&mut self, op: Op, path: &str, via: &str, span: &Range<usize>) {
        let certainty = if is_known(path) { Certainty::Certain } else { Certainty::Possible };
        let path = (path != ANY.to_string()).then(|| shown(path));
        let effect = Effect { op, path, via: via.to_owned(), certainty, span: self.span(span) };
        if !self.effects.contains(&effect) {
            self.effects.push(effect);
        }
    }
}

fn writes(redirects: &[Redirect]) -> bool {
    redirects.iter().any(|r| matches!(r, Redirect::Write(_)))
}
