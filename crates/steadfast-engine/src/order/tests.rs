use super::*;

const SENTENCES: &str = include_str!("sentences.tsv");

fn topic() -> Topic {
    Topic::new("Three files", Some("SPEC.json"), ["0.1", "0.2", "1.1", "bd-x7y8.3"].into_iter())
}

fn label(order: Order) -> &'static str {
    match order {
        Order::Bind => "bind",
        Order::GoAhead => "go",
        Order::Release => "release",
        Order::Nothing => "none",
    }
}

fn table() -> impl Iterator<Item = (&'static str, &'static str)> {
    SENTENCES.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('\t'))
}

#[test]
fn show() {
    let held = std::env::var("HELD").is_ok();
    let mut wrong = 0;
    let mut n = 0;
    for (at, (expected, sentence)) in table().enumerate() {
        if (at % 10 == 9) != held {
            continue;
        }
        n += 1;
        let got = label(read(sentence, topic()));
        if got != expected {
            wrong += 1;
            println!("{expected:8} {got:8} {sentence}");
        }
    }
    println!("{wrong} of {n}");
}
