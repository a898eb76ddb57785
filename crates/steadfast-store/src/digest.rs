//! SHA-256 in hexadecimal, for seals and approvals.

use std::io::{self, Read};

use sha2::{Digest, Sha256};
use steadfast_text::hex;

pub(crate) fn of_bytes(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Hashes everything that can be read, and counts its bytes.
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
