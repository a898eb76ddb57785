use super::filler::fill;
use crate::class::Class;
use crate::command::{Argument, COMMANDS};
use crate::name::{Kind, NAMES};
use crate::redact;

#[test]
fn every_name_announces_its_value() {
    let key = fill(Class::Alnum, 32, 1);
    for name in NAMES {
        let (upper, marker) = (name.ending.to_uppercase(), format!("[redacted:{}]", name.rule));
        let (text, clean) = match name.kind {
            Kind::Password | Kind::Token => (format!("MY_{upper}={key} x"), format!("MY_{upper}={marker} x")),
            Kind::Authorization => (format!("{upper}: Bearer {key}"), format!("{upper}: Bearer {marker}")),
            Kind::Cookie => (format!("{upper}: a={key}"), format!("{upper}: {marker}")),
            Kind::Harmless => (format!("MY_{upper}={key} x"), format!("MY_{upper}={key} x")),
        };
        assert_eq!(redact(&text), clean);
    }
}

#[test]
fn a_name_announces_nothing_to_a_longer_word() {
    let key = fill(Class::Alnum, 32, 1);
    for name in NAMES {
        let text = format!("{}ish={key}", name.ending);
        assert_eq!(redact(&text), text);
    }
}

#[test]
fn no_name_stands_in_the_shadow_of_a_shorter_one_above_it() {
    for (row, name) in NAMES.iter().enumerate() {
        for above in &NAMES[..row] {
            assert!(!name.ending.ends_with(above.ending), "{} is behind {}", name.ending, above.ending);
        }
    }
}

#[test]
fn every_command_gives_its_password_away_by_its_flag_only() {
    for command in COMMANDS {
        let (word, flag) = (command.word, char::from(command.flag));
        let attached = format!("{word} -{flag}hunter2 x");
        let separate = format!("{word} -{flag} hunter2 x");
        let other = format!("somecommand -{flag} hunter2 -{flag}hunter2");
        let (finds, leaves) = match command.argument {
            Argument::Attached => (vec![attached], vec![separate, other]),
            Argument::Separate => (vec![separate], vec![attached, other]),
            Argument::Either => (vec![attached, separate], vec![other]),
        };
        for text in finds {
            assert_eq!(redact(&text), text.replace("hunter2", "[redacted:password]"));
        }
        for text in leaves {
            assert_eq!(redact(&text), text);
        }
    }
}
