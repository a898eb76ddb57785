//! Secrets that pass, each with the reason. A line that is caught one day is deleted here.

use super::filler::filled;
use crate::redact;

/// What is missed, and why catching it would cost more than it saves.
const MISSES: &[(&str, &str)] = &[
    ("{32h}", "a bare hex key has no mark; so look object ids, digests and UUIDs"),
    ("wJalr{35}", "a bare AWS secret key has no mark; so does base64 of anything"),
    ("key={32}", "`key` names map entries, database keys and keyboard keys far more often than secrets"),
    ("password: hunter", "one plain word after a colon is more often a type, a label or a sentence"),
    ("password=hunter", "in lower case and unquoted it is as often a keyword argument"),
    ("{\"client_secret\": \"correcthorse\"}", "words in a token's place are test data and names of secrets"),
    ("\"passphrase\": \"correct horse battery staple\"", "quoted text with spaces is a caption or a message"),
    ("PASSWORD=abc", "three letters; no service accepts it"),
    ("POSTGRES_PASSWORD=postgres", "a default that every README prints"),
    ("https://admin:admin@localhost/", "password equal to the user: a default"),
    ("PASSWORD=your-Sup3rSecret!1", "begins as a placeholder"),
    ("PASSWORD=-leading-dash1", "a value that begins with a dash is the next flag"),
    ("postgres://app:a/b@db/x", "a raw slash ends the authority; it must be written %2F"),
    ("ENV DB_PASSWORD hunter2", "without `=` the name is a word in a sentence (Dockerfile's old form, fish `set -x`)"),
    ("<password>hunter2</password>", "XML elements are not read"),
    ("password: |\n  hunter2", "YAML blocks are not read: the value is on another line"),
    ("\"password\":\n  \"hunter2\"", "a value on the next line"),
    ("echo hunter2 | docker login --password-stdin", "nothing but the meaning of the command tells"),
    ("curl -b session={32h} x", "`-b` means other things to most commands"),
    ("htpasswd -b file alice hunter2", "positional passwords need a grammar per command"),
    ("openssl enc -k hunter2", "one-letter flags are known only for the commands in `command.rs`"),
    ("PASSWORD=$ecret1", "unquoted in a shell this is a variable"),
    ("if password == \"hunter2\"", "comparisons are code; constants in them are mostly test data"),
    ("the password is hunter2", "prose"),
    ("TOKEN = {8}\n{8}", "a key broken over lines keeps its second half"),
    ("t{3}gho_{36}", "a key glued to a word before it has no beginning"),
    ("PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 1\n{64}", "PuTTY's format has no mark around the key"),
    ("{3}8Q~{34}", "an Azure client secret without its name: the mark is two bytes inside a word"),
];

#[test]
fn the_list_of_misses_is_honest() {
    for (text, reason) in MISSES {
        let text = filled(text);
        let clean = redact(&text);
        let tail = &text[text.len() - 4..];
        assert!(clean.ends_with(tail), "caught, delete the line: {text} ({reason})");
    }
}
