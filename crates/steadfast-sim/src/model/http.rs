//! The part of HTTP/1.1 that the hosts use on loopback: keep-alive, content-length and chunked bodies.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

/// The limit of a request body. A host sends its whole conversation; a larger body is an error.
const BODY_LIMIT: usize = 256 << 20;
const HEAD_LIMIT: usize = 256 << 10;
const HEADER_COUNT: usize = 128;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Incoming {
    pub(super) method: String,
    /// The path with its query, as sent.
    pub(super) path: String,
    /// Names in lower case.
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Incoming {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }
}

#[derive(Debug)]
pub(super) struct Outgoing {
    pub(super) status: u16,
    pub(super) content_type: &'static str,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: String,
}

impl Outgoing {
    pub(super) fn json(status: u16, body: &serde_json::Value) -> Self {
        Self { status, content_type: "application/json", headers: Vec::new(), body: body.to_string() }
    }

    pub(super) fn event_stream(body: String) -> Self {
        Self { status: 200, content_type: "text/event-stream", headers: Vec::new(), body }
    }
}

pub(super) fn header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

/// One connection, from the server's end.
#[derive(Debug)]
pub(super) struct Connection {
    reader: BufReader<TcpStream>,
    writer: TcpStream,
}

impl Connection {
    pub(super) fn new(stream: TcpStream) -> io::Result<Self> {
        Ok(Self { writer: stream.try_clone()?, reader: BufReader::new(stream) })
    }

    /// Returns the next request, or `None` when the client has closed the connection.
    pub(super) fn read(&mut self) -> io::Result<Option<Incoming>> {
        let Some(head) = self.read_head()? else {
            return Ok(None);
        };
        let mut incoming = parse_head(&head)?;
        if incoming.header("expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue")) {
            self.writer.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        incoming.body = self.read_body(&incoming)?;
        Ok(Some(incoming))
    }

    fn read_head(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut head = Vec::new();
        loop {
            let before = head.len();
            self.reader.by_ref().take((HEAD_LIMIT - before) as u64).read_until(b'\n', &mut head)?;
            if head.len() == before {
                return if head.is_empty() {
                    Ok(None)
                } else {
                    Err(bad("the head of the request is cut off or too long"))
                };
            }
            if head.ends_with(b"\r\n\r\n") {
                return Ok(Some(head));
            }
        }
    }

    fn read_body(&mut self, incoming: &Incoming) -> io::Result<Vec<u8>> {
        let chunked =
            incoming.header("transfer-encoding").is_some_and(|value| value.to_ascii_lowercase().contains("chunked"));
        if chunked {
            return self.read_chunks();
        }
        let length = match incoming.header("content-length") {
            Some(text) => text.trim().parse().map_err(|_| bad("the content-length is not a number"))?,
            None => 0,
        };
        let mut body = Vec::new();
        self.read_exactly(length, &mut body)?;
        Ok(body)
    }

    fn read_chunks(&mut self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let line = self.read_line()?;
            let size = match httparse::parse_chunk_size(&line) {
                Ok(httparse::Status::Complete((_, size))) => {
                    usize::try_from(size).map_err(|_| bad("a chunk is too long"))?
                }
                Ok(httparse::Status::Partial) | Err(_) => return Err(bad("a chunk has no size")),
            };
            if size == 0 {
                while self.read_line()? != b"\r\n" {}
                return Ok(body);
            }
            self.read_exactly(size, &mut body)?;
            if self.read_line()? != b"\r\n" {
                return Err(bad("a chunk is longer than it says"));
            }
        }
    }

    fn read_line(&mut self) -> io::Result<Vec<u8>> {
        let mut line = Vec::new();
        self.reader.by_ref().take(HEAD_LIMIT as u64).read_until(b'\n', &mut line)?;
        if line.ends_with(b"\n") { Ok(line) } else { Err(bad("the body of the request is cut off")) }
    }

    fn read_exactly(&mut self, length: usize, body: &mut Vec<u8>) -> io::Result<()> {
        if body.len().saturating_add(length) > BODY_LIMIT {
            return Err(bad("the body of the request is too long"));
        }
        let read = self.reader.by_ref().take(length as u64).read_to_end(body)?;
        if read == length { Ok(()) } else { Err(bad("the body of the request is cut off")) }
    }

    pub(super) fn write(&mut self, outgoing: &Outgoing) -> io::Result<()> {
        let mut head = format!(
            "HTTP/1.1 {} scripted\r\ncontent-type: {}\r\ncontent-length: {}\r\n",
            outgoing.status,
            outgoing.content_type,
            outgoing.body.len()
        );
        for (name, value) in &outgoing.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        self.writer.write_all(head.as_bytes())?;
        self.writer.write_all(outgoing.body.as_bytes())?;
        self.writer.flush()
    }

    /// Answers HEAD: no body, whatever the length.
    pub(super) fn write_empty(&mut self) -> io::Result<()> {
        self.writer.write_all(b"HTTP/1.1 200 scripted\r\ncontent-length: 0\r\n\r\n")
    }
}

fn parse_head(head: &[u8]) -> io::Result<Incoming> {
    let mut slots = [httparse::EMPTY_HEADER; HEADER_COUNT];
    let mut request = httparse::Request::new(&mut slots);
    match request.parse(head) {
        Ok(httparse::Status::Complete(_)) => {}
        Ok(httparse::Status::Partial) => return Err(bad("the head of the request is cut off")),
        Err(error) => return Err(io::Error::new(io::ErrorKind::InvalidData, error)),
    }
    Ok(Incoming {
        method: request.method.unwrap_or_default().to_owned(),
        path: request.path.unwrap_or_default().to_owned(),
        headers: request
            .headers
            .iter()
            .map(|header| (header.name.to_ascii_lowercase(), String::from_utf8_lossy(header.value).into_owned()))
            .collect(),
        body: Vec::new(),
    })
}

fn bad(problem: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, problem)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Shutdown, TcpListener};

    /// Returns the requests from a client that sends `bytes` and closes.
    fn read_all(bytes: &[u8]) -> Vec<io::Result<Incoming>> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        client.write_all(bytes).unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        let mut connection = Connection::new(listener.accept().unwrap().0).unwrap();
        let mut found = Vec::new();
        loop {
            match connection.read() {
                Ok(None) => return found,
                Ok(Some(incoming)) => found.push(Ok(incoming)),
                Err(error) => {
                    found.push(Err(error));
                    return found;
                }
            }
        }
    }

    #[test]
    fn two_requests_on_one_connection_are_told_apart() {
        let found = read_all(b"POST /a HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}HEAD / HTTP/1.1\r\nX-A: b\r\n\r\n");
        let found: Vec<Incoming> = found.into_iter().map(Result::unwrap).collect();
        let expected = [
            Incoming {
                method: "POST".into(),
                path: "/a".into(),
                headers: vec![("content-length".into(), "2".into())],
                body: b"{}".to_vec(),
            },
            Incoming {
                method: "HEAD".into(),
                path: "/".into(),
                headers: vec![("x-a".into(), "b".into())],
                body: Vec::new(),
            },
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn chunks_are_joined() {
        let found = read_all(
            b"POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nTrailer: x\r\n\r\n",
        );
        assert_eq!(found[0].as_ref().unwrap().body, b"abcde");
        assert_eq!(found.len(), 1);
    }

    #[test]
    fn a_body_that_is_cut_off_is_an_error() {
        let found = read_all(b"POST /a HTTP/1.1\r\nContent-Length: 5\r\n\r\nabc");
        assert_eq!(found[0].as_ref().unwrap_err().to_string(), "the body of the request is cut off");
    }

    #[test]
    fn a_head_that_is_cut_off_is_an_error() {
        let found = read_all(b"POST /a HTT");
        assert_eq!(found[0].as_ref().unwrap_err().to_string(), "the head of the request is cut off or too long");
    }
}
