//! `find` with actions.

use crate::effect::Op;
use crate::expand::Arg;
use crate::text::{ANY, ONE, STAR};
use crate::walk::{NO_STDIN, Walk};

impl Walk {
    /// Runs the actions. Returns the possible output: paths below its starting points.
    pub(crate) fn find(&mut self, args: &[Arg]) -> String {
        let roots = args.iter().take_while(|arg| !arg.text.starts_with(['-', '(', '!'])).count();
        let (roots, tests) = args.split_at(roots);
        let name = tests.windows(2).find(|pair| matches!(pair[0].text.as_str(), "-name" | "-iname"));
        let found = |root: &str| match name {
            Some(pair) => {
                let name = pair[1].text.replace('*', &STAR.to_string()).replace(['?', '['], &ONE.to_string());
                format!("{root}/{ANY}/{name}")
            }
            None => format!("{root}/{ANY}"),
        };
        let roots: Vec<&str> =
            if roots.is_empty() { vec!["."] } else { roots.iter().map(|arg| arg.text.as_str()).collect() };
        let mut at = 0;
        while let Some(arg) = tests.get(at) {
            at += 1;
            match arg.text.as_str() {
                "-delete" => {
                    for root in &roots {
                        self.effect(Op::Delete, &Arg { text: found(root), span: arg.span.clone() }, "find");
                    }
                }
                "-fprintf" | "-fprint" | "-fls" | "-fprint0" => {
                    if let Some(file) = tests.get(at) {
                        self.effect(Op::Write, file, "find");
                    }
                }
                "-exec" | "-execdir" | "-ok" | "-okdir" => {
                    let end = tests[at..].iter().position(|arg| matches!(arg.text.as_str(), ";" | "+"));
                    let command = &tests[at..end.map_or(tests.len(), |end| at + end)];
                    at += command.len();
                    for root in &roots {
                        let file = found(root);
                        let args: Vec<Arg> = command
                            .iter()
                            .map(|arg| Arg { text: arg.text.replace("{}", &file), span: arg.span.clone() })
                            .collect();
                        self.run(&args, NO_STDIN);
                    }
                }
                _ => {}
            }
        }
        roots.iter().map(|root| found(root) + "\n").collect()
    }
}
