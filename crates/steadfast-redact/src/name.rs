//! Names that announce a secret: `DB_PASSWORD`, `apiKey`, `--token`.

use Kind::{Authorization, Cookie, Harmless, Password, Token};
use Where::{Anywhere, LastWord, Word};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Chosen by people: may be one short word.
    Password,
    /// Made by machines: long, and no word.
    Token,
    /// `Authorization: <scheme> <credentials>`.
    Authorization,
    /// `Cookie: a=b; c=d`.
    Cookie,
    /// Ends like a secret's name and holds none.
    Harmless,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Where {
    /// The name may end with it in the middle of a word: `PGPASSWORD`.
    Anywhere,
    /// Only as a word of its own: `DB_PASS`, `dbPass`, not `compass`.
    Word,
    /// Only as the last of several words: `DB_PWD`, not `PWD`, the working directory.
    LastWord,
}

#[derive(Debug)]
pub(crate) struct Name {
    /// What the name ends with, in lower case, without `_`, `-` and `.`.
    pub(crate) ending: &'static str,
    pub(crate) place: Where,
    pub(crate) kind: Kind,
    pub(crate) rule: &'static str,
}

const fn name(ending: &'static str, place: Where, kind: Kind, rule: &'static str) -> Name {
    Name { ending, place, kind, rule }
}

/// A longer ending goes before a shorter one that it ends with.
pub(crate) const NAMES: &[Name] = &[
    name("password", Anywhere, Password, "password"),
    name("passwd", Anywhere, Password, "password"),
    name("passphrase", Anywhere, Password, "password"),
    name("passcode", Anywhere, Password, "password"),
    name("dbpass", Anywhere, Password, "password"),
    name("pass", Word, Password, "password"),
    name("pwd", LastWord, Password, "password"),
    name("secretaccesskey", Anywhere, Token, "aws-secret-key"),
    name("awssecretkey", Anywhere, Token, "aws-secret-key"),
    name("ddapikey", Anywhere, Token, "datadog-key"),
    name("ddappkey", Anywhere, Token, "datadog-key"),
    name("datadogapikey", Anywhere, Token, "datadog-key"),
    name("datadogappkey", Anywhere, Token, "datadog-key"),
    name("cloudflareapikey", Anywhere, Token, "cloudflare-key"),
    name("cloudflareapitoken", Anywhere, Token, "cloudflare-key"),
    name("cfapikey", Anywhere, Token, "cloudflare-key"),
    name("cfapitoken", Anywhere, Token, "cloudflare-key"),
    name("xauthkey", Anywhere, Token, "cloudflare-key"),
    name("accountkey", Anywhere, Token, "azure-key"),
    name("sharedaccesskey", Anywhere, Token, "azure-key"),
    name("nexttoken", Anywhere, Harmless, ""),
    name("pagetoken", Anywhere, Harmless, ""),
    name("continuationtoken", Anywhere, Harmless, ""),
    name("cancellationtoken", Anywhere, Harmless, ""),
    name("synctoken", Anywhere, Harmless, ""),
    name("secret", Anywhere, Token, "secret"),
    name("secretkey", Anywhere, Token, "secret"),
    name("secretkeybase", Anywhere, Token, "secret"),
    name("token", Anywhere, Token, "token"),
    name("apikey", Anywhere, Token, "api-key"),
    name("accesskey", Anywhere, Token, "api-key"),
    name("authkey", Anywhere, Token, "api-key"),
    name("servicekey", Anywhere, Token, "api-key"),
    name("rolekey", Anywhere, Token, "api-key"),
    name("privatekey", Anywhere, Token, "secret"),
    name("signingkey", Anywhere, Token, "secret"),
    name("encryptionkey", Anywhere, Token, "secret"),
    name("masterkey", Anywhere, Token, "secret"),
    name("credential", Anywhere, Token, "secret"),
    name("credentials", Anywhere, Token, "secret"),
    name("jwt", Word, Token, "token"),
    name("pat", Word, Token, "token"),
    name("auth", Word, Token, "token"),
    name("xamzsignature", Anywhere, Token, "signature"),
    name("phpsessid", Anywhere, Token, "cookie"),
    name("jsessionid", Anywhere, Token, "cookie"),
    name("connectsid", Anywhere, Token, "cookie"),
    name("authorization", Anywhere, Authorization, "authorization"),
    name("cookie", Word, Cookie, "cookie"),
];

/// Words that follow a secret's name and change nothing: `DB_PASSWORD_PROD`.
const TAILS: &[&str] =
    &["prod", "production", "staging", "dev", "live", "test", "old", "new", "value", "base64", "b64"];

/// How much of a name is read, from its end.
const READ: usize = 40;

/// The last two letters of every ending, so that nearly all names are told by two bytes.
static LAST_LETTERS: [u128; 128] = last_letters();

const fn last_letters() -> [u128; 128] {
    let mut table = [0; 128];
    let mut row = 0;
    while row < NAMES.len() {
        let ending = NAMES[row].ending.as_bytes();
        table[ending[ending.len() - 1] as usize] |= 1 << ending[ending.len() - 2];
        row += 1;
    }
    table
}

/// What `identifier` announces; `None` for ordinary names.
pub(crate) fn announced_by(identifier: &[u8]) -> Option<&'static Name> {
    let named = lookup(without_number(identifier)).or_else(|| lookup(without_number(without_tail(identifier)?)))?;
    (named.kind != Harmless).then_some(named)
}

/// As [`announced_by`]; between semicolons `Pwd` is a password too.
pub(crate) fn announced_in_connection_string(identifier: &[u8]) -> Option<&'static Name> {
    static PWD: Name = name("pwd", Word, Password, "password");
    if identifier.eq_ignore_ascii_case(b"pwd") { Some(&PWD) } else { announced_by(identifier) }
}

/// As [`announced_by`], when nothing stands before the ending: `-password`, but not `-pSECRET`.
pub(crate) fn announced_wholly_by(identifier: &[u8]) -> Option<&'static Name> {
    let letters = identifier.iter().filter(|&&b| !is_joint(b)).count();
    announced_by(identifier).filter(|name| name.ending.len() == letters)
}

fn is_joint(byte: u8) -> bool {
    matches!(byte, b'_' | b'-' | b'.')
}

fn without_number(identifier: &[u8]) -> &[u8] {
    let trailing = identifier.iter().rev().take(READ).take_while(|b| b.is_ascii_digit() || **b == b'_').count();
    &identifier[..identifier.len() - trailing]
}

fn without_tail(identifier: &[u8]) -> Option<&[u8]> {
    let joint = identifier.iter().rev().take(READ).position(|&b| is_joint(b))?;
    let tail = &identifier[identifier.len() - joint..];
    TAILS.iter().any(|t| tail.eq_ignore_ascii_case(t.as_bytes())).then(|| &identifier[..identifier.len() - joint - 1])
}

fn lookup(identifier: &[u8]) -> Option<&'static Name> {
    let [.., before_last, last] = *identifier else { return None };
    let (before_last, last) = (before_last.to_ascii_lowercase(), last.to_ascii_lowercase());
    let known = last < 128 && before_last < 128 && LAST_LETTERS[last as usize] >> before_last & 1 == 1;
    if !known {
        return None;
    }
    let letters = Letters::of(identifier);
    NAMES.iter().find(|name| letters.end_with(name))
}

/// The letters of a name from its end, in lower case, with the places where a word begins.
struct Letters {
    reversed: [u8; READ],
    length: usize,
    /// Bit n: the letter n from the end begins a word.
    begins: u64,
}

impl Letters {
    fn of(identifier: &[u8]) -> Self {
        let mut letters = Self { reversed: [0; READ], length: 0, begins: 0 };
        for at in (0..identifier.len()).rev() {
            let byte = identifier[at];
            if is_joint(byte) {
                continue;
            }
            if letters.length == READ {
                break;
            }
            let before = at.checked_sub(1).map(|i| identifier[i]);
            let begins = before.is_none_or(|b| is_joint(b) || (b.is_ascii_lowercase() && byte.is_ascii_uppercase()));
            letters.begins |= u64::from(begins) << letters.length;
            letters.reversed[letters.length] = byte.to_ascii_lowercase();
            letters.length += 1;
        }
        letters
    }

    fn end_with(&self, name: &Name) -> bool {
        let ending = name.ending.as_bytes();
        ending.len() <= self.length
            && ending.iter().rev().eq(&self.reversed[..ending.len()])
            && match name.place {
                Anywhere => true,
                Word => self.begins >> (ending.len() - 1) & 1 == 1,
                LastWord => self.begins >> (ending.len() - 1) & 1 == 1 && self.length > ending.len(),
            }
    }
}
