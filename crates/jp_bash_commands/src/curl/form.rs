//! The parts of `-F`: a multipart body.

use jp_bash_system::{Stop, System};

use super::Failure;
use super::files;

/// One `-F`.
pub(super) struct Part {
    pub(super) text: Vec<u8>,
    /// `--form-string`: nothing in it is special.
    pub(super) literal: bool,
}

/// Builds the body; returns it and its content type.
pub(super) fn body(
    sys: &mut dyn System,
    parts: &[Part],
) -> Result<Result<(Vec<u8>, String), Failure>, Stop> {
    let mut random = [0; 8];
    sys.random(&mut random);
    let boundary: String = std::iter::repeat_n('-', 24)
        .chain(
            random
                .iter()
                .flat_map(|byte| format!("{byte:02x}").chars().collect::<Vec<_>>()),
        )
        .collect();
    let mut body = Vec::new();
    for part in parts {
        let Some(at) = memchr::memchr(b'=', &part.text) else {
            return Ok(Err(Failure::new(2, "Illegally formatted input field!")));
        };
        let (name, value) = part.text.split_at(at);
        let value = value.get(1..).unwrap_or_default();
        let field = match Field::read(sys, value, part.literal)? {
            Ok(field) => field,
            Err(failure) => return Ok(Err(failure)),
        };
        sys.reserve(field.content.len() as u64)?;
        body.extend_from_slice(
            format!("--{boundary}\r\nContent-Disposition: form-data; name=\"").as_bytes(),
        );
        body.extend(escape(name));
        body.push(b'"');
        if let Some(file) = &field.file_name {
            body.extend_from_slice(b"; filename=\"");
            body.extend(escape(file));
            body.push(b'"');
        }
        if let Some(kind) = &field.kind {
            body.extend_from_slice(b"\r\nContent-Type: ");
            body.extend(kind.iter().filter(|byte| **byte >= b' '));
        }
        body.extend_from_slice(b"\r\n\r\n");
        body.extend_from_slice(&field.content);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    Ok(Ok((
        body,
        format!("multipart/form-data; boundary={boundary}"),
    )))
}

struct Field {
    content: Vec<u8>,
    file_name: Option<Vec<u8>>,
    kind: Option<Vec<u8>>,
}

impl Field {
    fn read(
        sys: &mut dyn System,
        value: &[u8],
        literal: bool,
    ) -> Result<Result<Self, Failure>, Stop> {
        let plain = |content: &[u8]| Self {
            content: content.to_vec(),
            file_name: None,
            kind: None,
        };
        if literal {
            return Ok(Ok(plain(value)));
        }
        let mut pieces = value.split(|byte| *byte == b';');
        let first = pieces.next().unwrap_or_default();
        let mut field = match first.split_first() {
            Some((mark @ (b'@' | b'<'), path)) => {
                let content = match files::read(sys, path)? {
                    Ok(content) => content,
                    Err(failure) => return Ok(Err(failure)),
                };
                let upload = *mark == b'@';
                let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
                Self {
                    content,
                    file_name: upload.then(|| name.to_vec()),
                    kind: upload.then(|| guess(name).as_bytes().to_vec()),
                }
            }
            _ => plain(first),
        };
        for piece in pieces {
            if let Some(kind) = piece.strip_prefix(b"type=") {
                field.kind = Some(kind.to_vec());
            } else if let Some(name) = piece.strip_prefix(b"filename=") {
                field.file_name = Some(name.to_vec());
            } else if field.file_name.is_none() {
                // A semicolon in plain content.
                field.content.push(b';');
                field.content.extend_from_slice(piece);
            }
        }
        Ok(Ok(field))
    }
}

/// A name cannot end its quotes or its line.
fn escape(name: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(name.len());
    for byte in name {
        match byte {
            b'"' => out.extend_from_slice(b"%22"),
            b'\r' => out.extend_from_slice(b"%0D"),
            b'\n' => out.extend_from_slice(b"%0A"),
            _ => out.push(*byte),
        }
    }
    out
}

fn guess(name: &[u8]) -> &'static str {
    let end = name.rsplit(|byte| *byte == b'.').next().unwrap_or_default();
    match end.to_ascii_lowercase().as_slice() {
        b"gif" => "image/gif",
        b"jpg" | b"jpeg" => "image/jpeg",
        b"png" => "image/png",
        b"svg" => "image/svg+xml",
        b"txt" => "text/plain",
        b"htm" | b"html" => "text/html",
        b"pdf" => "application/pdf",
        b"xml" => "application/xml",
        _ => "application/octet-stream",
    }
}
