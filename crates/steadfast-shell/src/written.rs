use crate::effect::{Certainty, CommandEffect, Context, Op, Reading};

impl Reading {
    /// Builds the reading of a plain write to an absolute path by a tool that is not a shell, with the work in the
    /// folder `cwd`.
    pub fn of_write(path: &str, cwd: &str) -> Self {
        let effect = CommandEffect {
            op: Op::Write,
            path: Some(path.to_owned()),
            via: String::new(),
            certainty: Certainty::Certain,
            span: 0..0,
            copy_of: None,
        };
        let context = Context { cwd: cwd.to_owned(), ..Context::default() };
        Self { effects: vec![effect], parsed: true, context, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{GuardDecision, judge};

    #[test]
    fn a_checkout_below_a_folder_of_temporary_files_is_no_temporary_file() {
        let decision =
            |cwd| judge(&Reading::of_write("/tmp/a/.git/hooks/b", cwd), &[".git/hooks/".to_owned()]).decision;
        assert_eq!([decision("/tmp/a"), decision("/srv/a")], [GuardDecision::Deny, GuardDecision::Allow]);
    }
}
