//! How much an assertion says.
//!
//! Precision comes before reach: what is not known to be weak counts as strong, so that another manner of the same
//! assertion is not taken for a weaker one.

use std::ops::Range;

use super::assertion::Found;
use super::language::Language;
use super::level::{Bound, Level};
use super::lex::{Lexed, Lexeme, Token};

#[derive(Debug)]
pub(super) struct Strength {
    pub(super) level: Level,
    pub(super) bound: Option<Bound>,
    pub(super) is_opaque: bool,
}

pub(super) fn of(lexed: &Lexed<'_>, language: Language, found: &Found) -> Strength {
    let end = found.args.end.min(lexed.tokens.len());
    let reader = Reader { lexed, args: found.args.start.min(end)..end };
    let name = found.callee.to_ascii_lowercase().replace('_', "");
    let mut strength = if found.is_condition {
        reader.condition()
    } else if language == Language::Shell {
        reader.shell(&name)
    } else {
        reader.call(&name, found.is_negated)
    };
    if reader.says_nothing(&lexed.tokens[found.span.start..found.span.end.min(lexed.tokens.len())], found) {
        strength.level = Level::Vacuous;
    }
    strength
}

struct Reader<'a> {
    lexed: &'a Lexed<'a>,
    args: Range<usize>,
}

const BOOLEAN: [&str; 14] = [
    "assert",
    "asserttrue",
    "assertthat",
    "istrue",
    "true",
    "ok",
    "propassert",
    "debugassert",
    "expecttrue",
    "check",
    "require",
    "expect",
    "that",
    "assertthatbool",
];
const ANYTHING: [&str; 12] = [
    "anything",
    "any",
    "ANY",
    "objectContaining",
    "arrayContaining",
    "stringContaining",
    "stringMatching",
    "anyString",
    "anyInt",
    "Any",
    "AnythingOfType",
    "It",
];

fn level(level: Level) -> Strength {
    Strength { level, bound: None, is_opaque: false }
}

fn number(token: &Token<'_>) -> Option<f64> {
    let text = token.text.replace('_', "");
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    (token.lexeme == Lexeme::Number).then(|| text.parse().or_else(|_| digits.parse()).ok()).flatten()
}

impl<'a> Reader<'a> {
    fn tokens(&self) -> &'a [Token<'a>] {
        &self.lexed.tokens[self.args.clone()]
    }

    /// The arguments, or the sides of an operator: parts outside of brackets.
    fn split(&self, at: impl Fn(&Token<'_>) -> bool) -> Vec<Range<usize>> {
        let (mut parts, mut start, mut next) = (Vec::new(), self.args.start, self.args.start);
        while next < self.args.end {
            let token = &self.lexed.tokens[next];
            if at(token) {
                parts.push(start..next);
                start = next + 1;
            }
            let close = self.lexed.closes[next];
            let opens = token.lexeme == Lexeme::Mark && matches!(token.text, "(" | "[" | "{") && close > next;
            next = if opens { close + 1 } else { next + 1 };
        }
        if start < self.args.end {
            parts.push(start..self.args.end);
        }
        parts
    }

    fn arguments(&self) -> Vec<Range<usize>> {
        self.split(|token| token.is(","))
    }

    fn of(&self, range: &Range<usize>) -> &'a [Token<'a>] {
        &self.lexed.tokens[range.clone()]
    }

    fn last_number(&self) -> Option<f64> {
        self.arguments().last().and_then(|last| self.of(last).last()).and_then(number)
    }

    fn call(&self, name: &str, is_negated: bool) -> Strength {
        let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
        if has(&["snapshot", "golden", "approv"]) {
            return Strength { level: Level::Exact, bound: None, is_opaque: true };
        }
        let is_no = is_negated || name.contains("not") && !name.contains("nothing") && !name.contains("notif");
        if has(&[
            "almost",
            "closeto",
            "indelta",
            "inepsilon",
            "approx",
            "relativeeq",
            "absdiff",
            "ulpseq",
            "within",
            "isclose",
        ]) {
            return self.near(name);
        }
        if BOOLEAN.contains(&name) {
            let first = self.arguments().first().cloned().unwrap_or(self.args.clone());
            let inner = Reader { lexed: self.lexed, args: first };
            // NUnit's and Hamcrest's: what is compared is the second one.
            let second = self.arguments().get(1).cloned();
            if let Some(matcher) = second.filter(|_| matches!(name, "that" | "assertthat"))
                && let Some(word) = self.of(&matcher).iter().rfind(|token| token.is_word() && token.text.len() > 1)
            {
                let named = matcher
                    .clone()
                    .any(|at| self.lexed.tokens[at].is("EqualTo") || self.lexed.tokens[at].is("equalTo"));
                return if named { level(Level::Exact) } else { self.call(&word.text.to_ascii_lowercase(), false) };
            }
            return inner.truth();
        }
        if has(&["raises", "throw", "rejects", "failswith"]) {
            return if is_no { level(Level::Exact) } else { self.raised() };
        }
        if is_no && has(&["defined", "none", "null", "nil", "exist", "empty", "blank"]) {
            return level(if name.contains("undefined") || !name.contains("defined") {
                Level::Present
            } else {
                Level::Exact
            });
        }
        if is_no {
            return level(Level::Partial);
        }
        if has(&["undefined"]) {
            return level(Level::Exact);
        }
        if has(&["defined", "truthy", "exist", "present", "issome", "isok", "assertok"])
            || matches!(name, "some" | "error")
        {
            return level(Level::Present);
        }
        if has(&["greater", "less", "above", "below", "atleast", "atmost", "morethan"]) {
            let number = self.last_number();
            let upper = has(&["less", "below", "atmost"]);
            let bound = number.map(if upper { Bound::AtMost } else { Bound::AtLeast });
            return Strength { level: Level::Partial, bound, is_opaque: false };
        }
        if has(&["containexactly", "matcharray", "containsexactly", "elementsmatch", "countequal"]) {
            return level(Level::Exact);
        }
        let vague = [
            "contain",
            "include",
            "match",
            "regex",
            "startswith",
            "endswith",
            "instance",
            "property",
            "subset",
            "oneof",
        ];
        if has(&vague)
            || matches!(
                name,
                "assertin"
                    | "assertis"
                    | "in"
                    | "a"
                    | "an"
                    | "istype"
                    | "assertne"
                    | "tohavebeencalled"
                    | "assertcalled"
                    | "assertcalledonce"
            )
        {
            return level(Level::Partial);
        }
        let known = [
            "eq",
            "same",
            "tobe",
            "be",
            "is",
            "null",
            "none",
            "nil",
            "empty",
            "false",
            "falsy",
            "len",
            "size",
            "count",
            "zero",
            "noerror",
            "calledoncewith",
            "anycall",
            "hascalls",
            "calledwith",
            "nthcalled",
            "success",
            "failure",
            "refute",
        ];
        if has(&known) {
            let wildcard = self.tokens().iter().any(|token| token.is_word() && ANYTHING.contains(&token.text));
            return level(if wildcard { Level::Partial } else { Level::Exact });
        }
        Strength { level: Level::Unknown, bound: None, is_opaque: true }
    }

    fn near(&self, name: &str) -> Strength {
        let named = |key: &str| {
            let at = self.args.clone().find(|&at| {
                self.lexed.tokens[at].is(key) && self.lexed.tokens.get(at + 1).is_some_and(|next| next.is("="))
            })?;
            number(self.lexed.tokens.get(at + 2)?)
        };
        let of_keys = |keys: &[&str]| keys.iter().find_map(|key| named(key));
        let digits = of_keys(&["places", "digits", "decimal"]);
        let third = self.arguments().get(2).and_then(|third| self.of(third).last()).and_then(number);
        let second = self.arguments().get(1).and_then(|second| self.of(second).last()).and_then(number);
        let within = match (
            digits,
            of_keys(&["delta", "abs", "rel", "epsilon", "atol", "rtol", "abs_tol", "rel_tol", "max_relative"]),
        ) {
            (Some(digits), _) => Some(10f64.powf(-digits)),
            (_, Some(within)) => Some(within),
            _ if name.contains("tobecloseto") => Some(10f64.powf(-second.unwrap_or(2.0))),
            _ if name.contains("almost") => third.map(|digits| 10f64.powf(-digits)),
            _ if name.contains("indelta") || name.contains("inepsilon") => {
                self.arguments().get(3).and_then(|last| self.of(last).last()).and_then(number)
            }
            _ if name.contains("closeto") => second,
            _ => None,
        };
        Strength { level: Level::Exact, bound: within.map(Bound::Within), is_opaque: false }
    }

    /// With the type of what is raised, or without.
    fn raised(&self) -> Strength {
        let first = self.arguments().first().map(|first| self.of(first)).unwrap_or_default();
        let vague = first.is_empty()
            || first.len() == 1
                && matches!(first[0].text, "Exception" | "BaseException" | "Error" | "StandardError" | "Throwable");
        let has_message = self.tokens().iter().any(|token| token.is("match"));
        let level = if vague && self.arguments().len() < 2 { Level::Partial } else { Level::Exact };
        Strength { level, bound: Some(Bound::Message(has_message)), is_opaque: false }
    }

    /// What it says that an expression is true.
    fn truth(&self) -> Strength {
        let tokens = self.tokens();
        let parts = |texts: &[&str]| self.split(|token| texts.iter().any(|text| token.is(text)));
        if let Some(approx) = tokens.iter().position(|token| token.is("approx")) {
            let open = self.args.start + approx + 1;
            let close = self.lexed.closes.get(open).copied().filter(|&close| close > open).unwrap_or(self.args.end);
            let args = (open + 1).min(close)..close.min(self.args.end);
            return Reader { lexed: self.lexed, args: args.start.min(args.end)..args.end }.near("approx");
        }
        let equal = parts(&["==", "===", "is", "eq"]);
        if equal.len() > 1 {
            let right = self.of(&equal[1]);
            return match right {
                [one] if matches!(one.text, "True" | "true") => level(Level::Present),
                [not, rest @ ..] if not.is("not") => {
                    level(if rest.iter().any(|token| token.is("None")) { Level::Present } else { Level::Partial })
                }
                _ => level(Level::Exact),
            };
        }
        let unequal = parts(&["!=", "!=="]);
        if unequal.len() > 1 {
            let nothing =
                self.of(&unequal[1]).iter().any(|token| matches!(token.text, "null" | "nil" | "None" | "undefined"));
            return level(if nothing { Level::Present } else { Level::Partial });
        }
        for (marks, upper) in [(["<", "<="], true), ([">", ">="], false)] {
            let sides = parts(&marks);
            if sides.len() == 2 {
                return self.bound(&sides, upper);
            }
        }
        if parts(&["in", "instanceof", "=~"]).len() > 1 {
            return level(Level::Partial);
        }
        match tokens {
            [first, ..] if first.is("!") || first.is("not") => level(Level::Exact),
            [.., last] if !last.is(")") => level(Level::Present),
            _ => self.predicate(),
        }
    }

    fn bound(&self, sides: &[Range<usize>], upper: bool) -> Strength {
        let (left, right) = (self.of(&sides[0]), self.of(&sides[1]));
        let one = |side: &[Token<'_>]| match side {
            [value] => number(value),
            [minus, value] if minus.is("-") => number(value).map(|value| -value),
            [value, dot, ..] if dot.is(".") => number(value),
            _ => None,
        };
        let (value, upper) = match (one(left), one(right)) {
            (_, Some(value)) => (Some(value), upper),
            (Some(value), _) => (Some(value), !upper),
            _ => (None, upper),
        };
        let is_near =
            upper && self.tokens().iter().any(|token| matches!(token.text, "abs" | "Abs" | "abs_diff" | "fabs"));
        if is_near {
            let tight = value.is_none_or(|value| value <= 1e-3);
            return Strength {
                level: if tight { Level::Exact } else { Level::Partial },
                bound: value.map(Bound::Within),
                is_opaque: false,
            };
        }
        let bound = value.map(if upper { Bound::AtMost } else { Bound::AtLeast });
        Strength { level: Level::Partial, bound, is_opaque: false }
    }

    /// By the name of what is called last.
    fn predicate(&self) -> Strength {
        let tokens = self.tokens();
        let mut depth = 0usize;
        let called = tokens.iter().rposition(|token| {
            match token.text {
                ")" | "]" | "}" => depth += 1,
                "(" | "[" | "{" => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0 && token.is_word()
        });
        let name = called.map_or("", |at| tokens[at].text).to_ascii_lowercase().replace('_', "");
        match name.as_str() {
            "issome" | "isok" | "iserr" | "ispresent" | "isnotnull" | "bool" | "len" | "isdefined" => {
                level(Level::Present)
            }
            "contains" | "includes" | "include" | "startswith" | "endswith" | "matches" | "match" | "ismatch"
            | "test" | "any" | "isinstance" | "hasattr" | "contain" | "containskey" | "haskey" | "some" => {
                level(Level::Partial)
            }
            "isempty" | "isnone" | "equals" | "eq" | "isnull" | "deepequal" | "isfalse" => level(Level::Exact),
            _ => level(Level::Unknown),
        }
    }

    /// The condition under which a test of Go fails: what is asserted is its opposite.
    fn condition(&self) -> Strength {
        let tokens = self.tokens();
        let has = |text: &str| tokens.iter().any(|token| token.is(text));
        if has("!=") || has("DeepEqual") || has("Diff") || has("Is") {
            return level(Level::Exact);
        }
        if has("==") {
            let vague = tokens.iter().any(|token| token.is("nil") || token.is("0") || token.is("\"\""));
            return level(if vague { Level::Present } else { Level::Partial });
        }
        for (mark, other, upper) in [(">", ">=", true), ("<", "<=", false)] {
            let sides = self.split(|token| token.is(mark) || token.is(other));
            if sides.len() == 2 {
                return self.bound(&sides, upper);
            }
        }
        match tokens {
            [first, name] if first.is("!") && name.is_word() => level(Level::Present),
            [first, ..] if first.is("!") => self.predicate(),
            _ => level(Level::Exact),
        }
    }

    fn shell(&self, name: &str) -> Strength {
        let has = |text: &str| self.tokens().iter().any(|token| token.text == text);
        if matches!(name, "[" | "test" | "!") {
            let vague = self
                .tokens()
                .windows(2)
                .any(|pair| pair[0].is("-") && matches!(pair[1].text, "n" | "e" | "f" | "d" | "s"));
            let partial =
                has("!=") || has("=~") || has("*") || has("ne") || has("gt") || has("ge") || has("lt") || has("le");
            return level(if partial {
                Level::Partial
            } else if vague {
                Level::Present
            } else {
                Level::Exact
            });
        }
        match name {
            "grep" => level(Level::Partial),
            "diff" | "cmp" => level(Level::Exact),
            _ if has("--partial") || has("-p") || has("--regexp") => level(Level::Partial),
            _ if name.contains("equal") || name.contains("output") || name.contains("line") => level(Level::Exact),
            _ if name.contains("success") || name.contains("failure") => level(Level::Exact),
            _ => Strength { level: Level::Unknown, bound: None, is_opaque: true },
        }
    }

    /// Whether it holds by itself: a constant, a value compared with itself, `or True`.
    fn says_nothing(&self, span: &[Token<'_>], found: &Found) -> bool {
        if found.is_condition {
            return false;
        }
        if let [.., or, last] = self.of(&self.args)
            && matches!(or.text, "or" | "||")
            && matches!(last.text, "True" | "true")
        {
            return true;
        }
        let values: Vec<&Token<'_>> =
            span.iter().filter(|token| super::assertion::is_value(token) || is_constant(token)).collect();
        let has_name = span.iter().any(|token| {
            let is_matcher = token
                .text
                .strip_prefix("to")
                .is_some_and(|rest| rest.starts_with(|next: char| next.is_ascii_uppercase()));
            let is_manner = is_matcher || super::assertion::is_manner(token.text) || token.text == found.callee;
            token.is_word() && !is_constant(token) && !is_manner
        });
        if !has_name && !found.is_negated {
            return match values.as_slice() {
                [one] => {
                    matches!(one.text, "true" | "True")
                        || one.lexeme == Lexeme::Text
                        || number(one).is_some_and(|value| value != 0.0)
                }
                [one, other] => {
                    one.plain() == other.plain() && !span.iter().any(|token| matches!(token.text, "!=" | "!=="))
                }
                _ => false,
            };
        }
        // `total == total`; a call may give another value the second time.
        let sides = if found.callee.eq_ignore_ascii_case("assert") {
            self.split(|token| token.is("==") || token.is("==="))
        } else if found.callee.to_ascii_lowercase().contains("eq") {
            self.arguments()
        } else {
            return false;
        };
        let [one, other] = sides.as_slice() else { return false };
        let (one, other) = (self.of(one), self.of(other));
        !one.is_empty()
            && !one.iter().any(|token| token.is("("))
            && one.len() == other.len()
            && one.iter().zip(other).all(|(one, other)| one.plain() == other.plain())
    }
}

fn is_constant(token: &Token<'_>) -> bool {
    matches!(token.text, "true" | "True" | "false" | "False")
}
