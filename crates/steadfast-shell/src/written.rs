use crate::effect::{Certainty, Effect, Op, Reading};

impl Reading {
    /// A plain write of that absolute path, as a tool says it that is no shell.
    pub fn of_write(path: &str) -> Self {
        let effect = Effect {
            op: Op::Write,
            path: Some(path.to_owned()),
            via: String::new(),
            certainty: Certainty::Certain,
            span: 0..0,
            copy_of: None,
        };
        Self { effects: vec![effect], parsed: true, ..Self::default() }
    }
}
