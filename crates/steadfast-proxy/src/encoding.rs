//! Compressed requests. They pass as they are, and a copy is read.

use std::io::Read;

use http::HeaderMap;
use http::header::CONTENT_ENCODING;

/// How a body is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyEncoding {
    Plain,
    Gzip,
    Zstd,
    /// The body passes unseen.
    Unknown,
}

impl BodyEncoding {
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let mut values = headers.get_all(CONTENT_ENCODING).iter();
        match (values.next().map(|value| value.as_bytes().trim_ascii()), values.next()) {
            (None, _) | (Some(b"identity"), None) => Self::Plain,
            (Some(b"gzip" | b"x-gzip"), None) => Self::Gzip,
            (Some(b"zstd"), None) => Self::Zstd,
            _ => Self::Unknown,
        }
    }

    /// Decodes a compressed body. `None`: it is broken, unknown, or longer than the limit.
    pub(crate) fn decoded(self, body: &[u8], limit: usize) -> Option<Vec<u8>> {
        let mut decoder: Box<dyn Read + '_> = match self {
            Self::Plain | Self::Unknown => return None,
            Self::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(body)),
            Self::Zstd => Box::new(ruzstd::decoding::StreamingDecoder::new(body).ok()?),
        };
        let mut decoded = Vec::new();
        decoder.by_ref().take(limit as u64 + 1).read_to_end(&mut decoded).ok()?;
        (decoded.len() <= limit).then_some(decoded)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(text: &[u8]) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(text, ruzstd::encoding::CompressionLevel::Fastest)
    }

    #[test]
    fn both_encodings_of_the_hosts_are_read_up_to_a_limit() {
        let text = b"{\"a\": 1}".repeat(1000);
        for (encoding, body) in [(BodyEncoding::Gzip, gzip(&text)), (BodyEncoding::Zstd, zstd(&text))] {
            assert_eq!(encoding.decoded(&body, 8000).as_deref(), Some(&text[..]), "{encoding:?}");
            assert_eq!(encoding.decoded(&body, 7999), None, "{encoding:?}");
            assert_eq!(encoding.decoded(&body[..body.len() / 2], 8000), None, "{encoding:?}");
            assert_eq!(encoding.decoded(b"{\"a\": 1}", 8000), None, "{encoding:?}");
        }
    }

    #[test]
    fn an_encoding_is_known_by_its_header() {
        let of = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(CONTENT_ENCODING, value.parse().unwrap());
            }
            BodyEncoding::of(&headers)
        };
        let found = [of(&[]), of(&["gzip"]), of(&["zstd"]), of(&["br"]), of(&["gzip", "zstd"]), of(&["gzip, zstd"])];
        use BodyEncoding::{Gzip, Plain, Unknown, Zstd};
        assert_eq!(found, [Plain, Gzip, Zstd, Unknown, Unknown, Unknown]);
    }
}
