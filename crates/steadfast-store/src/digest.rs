//! SHA-256 in hexadecimal, of what is sealed and of what is approved.

use std::fmt::Write;
use std::io::{self, Read};

use sha2::{Digest, Sha256};

pub(crate) fn of_bytes(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Of all that can be read, and how much that was.
pub(crate) fn of_reader(mut from: impl Read) -> io::Result<(String, u64)> {
    let mut hash = Sha256::new();
    let mut part = vec![0; 64 << 10];
    let mut size = 0;
    loop {
        match from.read(&mut part) {
            Ok(0) => return Ok((hex(&hash.finalize()), size)),
            Ok(read) => {
                hash.update(&part[..read]);
                size += read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

pub(crate) fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    digits.chunks_exact(2).map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)).collect()
}
