use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";

type Bytes = Box<dyn Read + Send>;

/// The bytes of a transcript, unpacked if necessary: Codex packs old rollouts.
pub(super) struct Source(Bytes);

impl Source {
    /// Opens a file, and skips a byte order mark.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        if file.metadata()?.is_dir() {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
        }
        Self::of(file)
    }

    pub(super) fn of(mut bytes: impl Read + Send + 'static) -> io::Result<Self> {
        let mut first = [0; 4];
        let read = read_up_to(&mut bytes, &mut first)?;
        let first = &first[..read];
        let rest = first.strip_prefix(BYTE_ORDER_MARK).unwrap_or(first).to_vec();
        let all: Bytes = Box::new(io::Cursor::new(rest).chain(bytes));
        let packed = first == ZSTD;
        Ok(Self(if packed { Box::new(Unpacking { rest: Some(BufReader::new(all)), frame: None }) } else { all }))
    }
}

impl Read for Source {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0.read(into)
    }
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Source")
    }
}

/// A packed file, which consists of one or more frames.
struct Unpacking {
    rest: Option<BufReader<Bytes>>,
    frame: Option<StreamingDecoder<BufReader<Bytes>, FrameDecoder>>,
}

impl Read for Unpacking {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if into.is_empty() {
            return Ok(0);
        }
        loop {
            if let Some(frame) = &mut self.frame {
                let read = frame.read(into)?;
                if read > 0 {
                    return Ok(read);
                }
                self.rest = self.frame.take().map(StreamingDecoder::into_inner);
            }
            let Some(mut rest) = self.rest.take() else { return Ok(0) };
            if rest.fill_buf()?.is_empty() {
                return Ok(0);
            }
            let frame = StreamingDecoder::new(rest);
            self.frame = Some(frame.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.to_string()))?);
        }
    }
}

/// Reads until the buffer is full or the source ends.
fn read_up_to(bytes: &mut impl Read, into: &mut [u8]) -> io::Result<usize> {
    let mut read = 0;
    while read < into.len() {
        match bytes.read(&mut into[read..]) {
            Ok(0) => break,
            Ok(more) => read += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(read)
}
