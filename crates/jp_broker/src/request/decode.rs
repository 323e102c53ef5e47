//! Compressed bodies: unpacked up to a limit, and never past it.

use std::io::{self, Read};

use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

use crate::{CallError, Code, http::Response};

/// Returns the body as it was before the server packed it.
///
/// # Errors
///
/// [`Code::OutputLimit`] when it unfolds to more than `most` bytes; [`Code::Upstream`] when it is
/// broken, packed twice, or packed in a way nobody asked for.
pub(super) fn decode(response: &Response, most: usize) -> Result<Vec<u8>, CallError> {
    let encodings: Vec<String> = response
        .headers
        .iter()
        .filter(|(name, _)| name.eq_ignore_ascii_case("content-encoding"))
        .flat_map(|(_, value)| {
            let text = String::from_utf8_lossy(value).to_ascii_lowercase();
            let words = text.split(',').map(|word| word.trim().to_owned());
            words.collect::<Vec<_>>()
        })
        .filter(|word| !word.is_empty() && word != "identity")
        .collect();
    let body = response.body.as_slice();
    // An answer to HEAD says how it would be packed, and has no body.
    let encoding = match encodings.as_slice() {
        _ if body.is_empty() => return Ok(Vec::new()),
        [] => return Ok(body.to_vec()),
        [one] => one.as_str(),
        // Each layer could unfold a thousandfold.
        _ => return Err(broken("it is packed more than once")),
    };
    match encoding {
        "gzip" | "x-gzip" => unpack(MultiGzDecoder::new(body), most),
        // Servers mean either of two formats by this.
        "deflate" if is_zlib(body) => unpack(ZlibDecoder::new(body), most),
        "deflate" => unpack(DeflateDecoder::new(body), most),
        other => {
            let shown = jp_text::start(other, 40);
            Err(broken(&format!("it is packed as `{shown}`")))
        }
    }
}

fn is_zlib(body: &[u8]) -> bool {
    match body {
        [method, flags, ..] => {
            method & 0x0f == 8 && u16::from_be_bytes([*method, *flags]).is_multiple_of(31)
        }
        _ => false,
    }
}

fn unpack(reader: impl Read, most: usize) -> Result<Vec<u8>, CallError> {
    let mut body = Vec::new();
    let one_more = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    let read: io::Result<usize> = reader.take(one_more).read_to_end(&mut body);
    if body.len() > most {
        let message = format!("the response's body unfolds to more than {most} bytes");
        return Err(CallError::new(Code::OutputLimit, message));
    }
    read.map_err(|_| broken("it cannot be unpacked"))?;
    Ok(body)
}

fn broken(reason: &str) -> CallError {
    let message = format!("the response's body cannot be read: {reason}");
    CallError::new(Code::Upstream, message)
}
