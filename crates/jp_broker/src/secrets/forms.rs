//! The spellings in which a value may come back: as it is, and as common encodings write it.

use std::{borrow::Cow, collections::BTreeSet};

use data_encoding::{BASE64, BASE64_NOPAD, BASE64URL, BASE64URL_NOPAD, HEXLOWER, HEXUPPER};

use super::escapes;

/// Shorter pieces of an encoding would match text that has nothing to do with the value.
pub(super) const MIN_FORM: usize = 8;

/// The same for what a value that looks escaped reads as: it is only replaced where it was escaped to
/// [`MIN_FORM`] and more.
const MIN_INNERMOST: usize = 4;

/// Returns all spellings of a value that are looked for.
pub(super) fn forms(value: &[u8]) -> BTreeSet<Vec<u8>> {
    let value = value.trim_ascii();
    let mut forms = BTreeSet::from([value.to_vec()]);
    for encoding in [BASE64, BASE64_NOPAD, BASE64URL, BASE64URL_NOPAD] {
        forms.insert(encoding.encode(value).into_bytes());
    }
    for encoding in [BASE64_NOPAD, BASE64URL_NOPAD] {
        forms.extend((0..3).filter_map(|offset| core_of(&encoding, value, offset)));
    }
    for encoding in [HEXLOWER, HEXUPPER] {
        forms.insert(encoding.encode(value).into_bytes());
    }
    forms.extend(percent_forms(value));
    match String::from_utf8_lossy(value) {
        Cow::Borrowed(text) => {
            forms.extend(json_forms(text));
            forms.insert(html(text).into_bytes());
        }
        // What is left of it where bytes were made into a text.
        Cow::Owned(text) => drop(forms.insert(text.into_bytes())),
    }
    forms.retain(|form| form.len() >= MIN_FORM);
    forms
}

/// Returns what a value reads as that looks escaped itself. It is found by that where its letters were
/// escaped unequally often.
pub(super) fn innermost(value: &[u8]) -> Option<Vec<u8>> {
    let value = value.trim_ascii();
    let read = escapes::innermost(value);
    (value.len() >= MIN_FORM && read.len() >= MIN_INNERMOST && read != value).then_some(read)
}

/// Returns the letters of a base64 text that the value alone decides, when `offset` bytes stand
/// before it: `user:value` of a Basic header has it in its midst.
fn core_of(encoding: &data_encoding::Encoding, value: &[u8], offset: usize) -> Option<Vec<u8>> {
    let mut padded = vec![0; offset];
    padded.extend(value);
    let text = encoding.encode(&padded);
    let start = (offset * 8).div_ceil(6);
    let end = padded.len() * 8 / 6;
    text.as_bytes().get(start..end).map(<[u8]>::to_vec)
}

fn percent_forms(value: &[u8]) -> Vec<Vec<u8>> {
    let unreserved = |b: u8| b.is_ascii_alphanumeric() || b"-._~".contains(&b);
    // What `encodeURIComponent` keeps besides.
    let kept_by_browsers = |b: u8| unreserved(b) || b"!'()*".contains(&b);
    let upper = |keep: &dyn Fn(u8) -> bool| percent(value, keep, &HEXUPPER);
    let lower = |keep: &dyn Fn(u8) -> bool| percent(value, keep, &HEXLOWER);
    let form = upper(&|b| unreserved(b) || b == b' ')
        .into_iter()
        .map(|b| if b == b' ' { b'+' } else { b })
        .collect();
    vec![
        upper(&unreserved),
        lower(&unreserved),
        upper(&kept_by_browsers),
        upper(&|_| false),
        lower(&|_| false),
        form,
    ]
}

fn percent(value: &[u8], keep: &dyn Fn(u8) -> bool, digits: &data_encoding::Encoding) -> Vec<u8> {
    let mut out = Vec::with_capacity(value.len() * 3);
    for byte in value {
        if keep(*byte) {
            out.push(*byte);
        } else {
            out.push(b'%');
            out.extend(digits.encode(&[*byte]).into_bytes());
        }
    }
    out
}

fn json_forms(text: &str) -> Vec<Vec<u8>> {
    let quoted = serde_json::to_string(text).unwrap_or_default();
    let inner = quoted
        .get(1..quoted.len().saturating_sub(1))
        .unwrap_or_default();
    let mut ascii = String::new();
    for unit in inner.encode_utf16() {
        match u8::try_from(unit) {
            Ok(byte) if byte.is_ascii() => ascii.push(byte.into()),
            _ => ascii.push_str(&format!("\\u{unit:04x}")),
        }
    }
    vec![
        inner.as_bytes().to_vec(),
        inner.replace('/', "\\/").into_bytes(),
        ascii.replace('/', "\\/").into_bytes(),
        ascii.into_bytes(),
    ]
}

fn html(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}
