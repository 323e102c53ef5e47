//! Compressed bodies: decoded up to a limit, and never past it. Does not know the network.

use std::io::{self, BufRead, Read};

use brotli_decompressor::{BrotliDecoderParameter, Decompressor};
use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use ruzstd::decoding::{
    FrameDecoder, StreamingDecoder,
    errors::{FrameDecoderError, ReadFrameHeaderError},
};

use super::Response;

/// What [`unpack`] can decode, as `Accept-Encoding` says it.
pub const ENCODINGS: &str = "gzip, br, zstd, deflate";

/// The largest window of a zstd body: RFC 9659 allows no more in HTTP.
const MAX_WINDOW: u64 = 8 * 1024 * 1024;

/// Why a compressed body cannot be decoded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnpackError {
    /// It is larger than it may be.
    #[error("response rejected: body larger than {limit} bytes once decompressed")]
    TooLarge {
        /// The most it may be.
        limit: usize,
    },
    /// It is broken, compressed twice, or compressed in a way that was not asked for.
    #[error("cannot read the body of the response: {reason}")]
    Broken {
        /// What is wrong with it.
        reason: String,
    },
}

/// Returns the body of a response as it was before the server compressed it.
///
/// # Errors
/// See [`UnpackError`]; there is never half a body.
pub fn unpack(response: &Response, most: usize) -> Result<Vec<u8>, UnpackError> {
    let body = response.body.as_slice();
    let encodings = encodings(response);
    // An answer to HEAD says how it would be packed, and has no body.
    let encoding = match encodings.as_slice() {
        _ if body.is_empty() => return Ok(Vec::new()),
        [] => return Ok(body.to_vec()),
        [one] => one.as_str(),
        // Each layer could grow a thousandfold.
        _ => return Err(broken("it is packed more than once")),
    };
    match encoding {
        "gzip" | "x-gzip" => whole(MultiGzDecoder::new(body), most),
        "br" => brotli(body, most),
        "zstd" => zstd(body, most),
        // Servers mean either of two formats by this.
        "deflate" if is_zlib(body) => whole(ZlibDecoder::new(body), most),
        "deflate" => whole(DeflateDecoder::new(body), most),
        other => {
            let shown = jp_text::start(other, 40);
            Err(broken(&format!("it is packed as `{shown}`")))
        }
    }
}

fn encodings(response: &Response) -> Vec<String> {
    let named = |(name, _): &&(String, Vec<u8>)| name.eq_ignore_ascii_case("content-encoding");
    let values = response.headers.iter().filter(named);
    let words = values.flat_map(|(_, value)| {
        let text = String::from_utf8_lossy(value).to_ascii_lowercase();
        let words = text.split(',').map(|word| word.trim().to_owned());
        words.collect::<Vec<_>>()
    });
    let says = |word: &String| !word.is_empty() && word != "identity";
    words.filter(says).collect()
}

fn is_zlib(body: &[u8]) -> bool {
    match body {
        [method, flags, ..] => {
            method & 0x0f == 8 && u16::from_be_bytes([*method, *flags]).is_multiple_of(31)
        }
        _ => false,
    }
}

fn whole(reader: impl Read, most: usize) -> Result<Vec<u8>, UnpackError> {
    let mut body = Vec::new();
    read_into(&mut body, reader, most)?;
    Ok(body)
}

/// Adds what a decoder gives to `body`, which must stay within `most` bytes.
fn read_into(body: &mut Vec<u8>, reader: impl Read, most: usize) -> Result<(), UnpackError> {
    let left = u64::try_from(most.saturating_sub(body.len())).unwrap_or(u64::MAX);
    let read: io::Result<usize> = reader.take(left.saturating_add(1)).read_to_end(body);
    if body.len() > most {
        return Err(UnpackError::TooLarge { limit: most });
    }
    read.map(drop).map_err(|_| broken("it cannot be unpacked"))
}

fn brotli(body: &[u8], most: usize) -> Result<Vec<u8>, UnpackError> {
    let mut source = body;
    let mut reader = Decompressor::new(&mut source, 4096);
    // A window of up to a gigabyte, which HTTP does not have.
    reader.set_parameter(BrotliDecoderParameter::BROTLI_DECODER_PARAM_LARGE_WINDOW, 0);
    whole(reader, most)
}

/// Decodes all frames of a body: RFC 8878 allows several, and some that hold nothing.
fn zstd(mut body: &[u8], most: usize) -> Result<Vec<u8>, UnpackError> {
    let failed = || broken("it cannot be unpacked");
    let mut bytes = Vec::new();
    let mut decoder = FrameDecoder::new();
    decoder.set_max_window_size(MAX_WINDOW);
    while !body.is_empty() {
        match StreamingDecoder::new_with_decoder(&mut body, &mut decoder) {
            Ok(frame) => read_into(&mut bytes, frame, most)?,
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length,
                ..
            })) => {
                let length = usize::try_from(length).map_err(|_| failed())?;
                if length > body.len() {
                    return Err(failed());
                }
                body.consume(length);
            }
            Err(FrameDecoderError::WindowSizeTooBig { requested, max }) => {
                let reason = format!("its window is {requested} bytes, more than {max}");
                return Err(broken(&reason));
            }
            Err(_) => return Err(failed()),
        }
    }
    Ok(bytes)
}

fn broken(reason: &str) -> UnpackError {
    UnpackError::Broken {
        reason: reason.to_owned(),
    }
}
