use std::fmt;

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PictureKind {
    Png,
    Jpeg,
    Gif,
    WebP,
}

impl PictureKind {
    /// Recognizes a picture by its first bytes, not by its name.
    pub(crate) fn of(bytes: &[u8]) -> Option<Self> {
        if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
            Some(Self::Png)
        } else if bytes.starts_with(&[0xff, 0xd8, 0xff]) {
            Some(Self::Jpeg)
        } else if bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a") {
            Some(Self::Gif)
        } else if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
            Some(Self::WebP)
        } else {
            None
        }
    }
}

impl fmt::Display for PictureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Png => "PNG",
            Self::Jpeg => "JPEG",
            Self::Gif => "GIF",
            Self::WebP => "WebP",
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) width: u32,
    pub(crate) height: u32,
}

const SHORT: &str = "it ends too early";

/// Reads the size of a picture. Checks that its parts are complete, but does not decode the pixels.
pub(crate) fn read(kind: PictureKind, bytes: &[u8]) -> Result<Header, &'static str> {
    match kind {
        PictureKind::Png => png(bytes),
        PictureKind::Jpeg => jpeg(bytes),
        PictureKind::Gif => gif(bytes),
        PictureKind::WebP => webp(bytes),
    }
}

fn png(bytes: &[u8]) -> Result<Header, &'static str> {
    let mut header = None;
    let mut data = false;
    let mut rest = &bytes[8..];
    loop {
        let length = usize::try_from(big(rest, 0, 4)?).map_err(|_| SHORT)?;
        let name = rest.get(4..8).ok_or(SHORT)?;
        let content = rest.get(8..).and_then(|rest| rest.get(..length)).ok_or(SHORT)?;
        match (name, header) {
            (b"IHDR", None) => header = Some(Header { width: big(content, 0, 4)?, height: big(content, 4, 4)? }),
            (_, None) => return Err("it does not begin with its header"),
            (b"IDAT", _) => data |= length > 0,
            (b"IEND", Some(header)) => return if data { Ok(header) } else { Err("it has no pixels") },
            _ => {}
        }
        // The checksum.
        rest = rest.get(12 + length..).ok_or(SHORT)?;
    }
}

fn jpeg(bytes: &[u8]) -> Result<Header, &'static str> {
    let mut header = None;
    let mut rest = &bytes[2..];
    loop {
        if rest.first() != Some(&0xff) {
            return Err("its parts do not follow each other");
        }
        match (*rest.get(1).ok_or(SHORT)?, header) {
            (0xff, _) => rest = &rest[1..],
            (0x01 | 0xd0..=0xd8, _) => rest = &rest[2..],
            (0xd9, _) => return Err("it has no pixels"),
            (0xda, Some(header)) => {
                let end = rest.windows(2).any(|two| two == [0xff, 0xd9]);
                return if end { Ok(header) } else { Err(SHORT) };
            }
            (0xda, None) => return Err("it has no size"),
            (marker, _) => {
                let length = usize::try_from(big(rest, 2, 2)?).map_err(|_| SHORT)?;
                // These markers are frames, apart from three tables among them.
                if matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc) {
                    header = Some(Header { height: big(rest, 5, 2)?, width: big(rest, 7, 2)? });
                }
                rest = rest.get(2 + length..).ok_or(SHORT)?;
            }
        }
    }
}

fn gif(bytes: &[u8]) -> Result<Header, &'static str> {
    let header = Header { width: little(bytes, 6, 2)?, height: little(bytes, 8, 2)? };
    // An image block starts with a comma, after the colour table.
    let flags = *bytes.get(10).ok_or(SHORT)?;
    let colours = if flags & 0x80 == 0 { 0 } else { 3 << ((flags & 7) + 1) };
    let rest = bytes.get(13 + colours..).ok_or(SHORT)?;
    if rest.contains(&b',') { Ok(header) } else { Err("it has no pixels") }
}

fn webp(bytes: &[u8]) -> Result<Header, &'static str> {
    let said = usize::try_from(little(bytes, 4, 4)?).map_err(|_| SHORT)?;
    if bytes.len() < said {
        return Err(SHORT);
    }
    match bytes.get(12..16).ok_or(SHORT)? {
        b"VP8 " if bytes.get(23..26) == Some(&[0x9d, 0x01, 0x2a]) => {
            Ok(Header { width: little(bytes, 26, 2)? & 0x3fff, height: little(bytes, 28, 2)? & 0x3fff })
        }
        b"VP8L" if bytes.get(20) == Some(&0x2f) => {
            let both = little(bytes, 21, 4)?;
            Ok(Header { width: (both & 0x3fff) + 1, height: (both >> 14 & 0x3fff) + 1 })
        }
        b"VP8X" => Ok(Header { width: little(bytes, 24, 3)? + 1, height: little(bytes, 27, 3)? + 1 }),
        _ => Err("it has no pixels"),
    }
}

fn big(bytes: &[u8], at: usize, length: usize) -> Result<u32, &'static str> {
    let bytes = bytes.get(at..at + length).ok_or(SHORT)?;
    Ok(bytes.iter().fold(0, |value, byte| value << 8 | u32::from(*byte)))
}

fn little(bytes: &[u8], at: usize, length: usize) -> Result<u32, &'static str> {
    let bytes = bytes.get(at..at + length).ok_or(SHORT)?;
    Ok(bytes.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ALL: [PictureKind; 4] = [PictureKind::Png, PictureKind::Jpeg, PictureKind::Gif, PictureKind::WebP];

    #[test]
    fn the_size_of_a_webp_is_read_in_its_three_forms() {
        let riff = |form: &[u8; 4], rest: &[u8]| [b"RIFF\x10\0\0\0WEBP", &form[..], b"\0\0\0\0", rest].concat();
        let lossy = riff(b"VP8 ", b"\0\0\0\x9d\x01\x2a\x40\x01\xf0\x00");
        let lossless = riff(b"VP8L", &[0x2f, 0x3f, 0xc1, 0x3b, 0x00]);
        let extended = riff(b"VP8X", b"\0\0\0\0\x3f\x01\0\xef\0\0");
        for bytes in [lossy, lossless, extended] {
            assert_eq!(PictureKind::of(&bytes), Some(PictureKind::WebP));
            assert_eq!(read(PictureKind::WebP, &bytes), Ok(Header { width: 320, height: 240 }), "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes: Vec<u8>) {
            let begins = [&b"\x89PNG\r\n\x1a\n"[..], &[0xff, 0xd8, 0xff], b"GIF89a", b"RIFF\0\0\0\0WEBPVP8X"];
            for (kind, begin) in ALL.into_iter().zip(begins) {
                let bytes = [begin, &bytes].concat();
                prop_assert_eq!(PictureKind::of(&bytes), Some(kind));
                let _ = read(kind, &bytes);
            }
        }
    }
}
