//! Changing the case of letters: `${x^^}`, `declare -u`, `${x@L}`.

use jp_bash_syntax::ast::CaseOp;

/// What to change.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CaseChange {
    pub(crate) op: CaseOp,
    /// All characters, else the first.
    pub(crate) all: bool,
}

/// Changes the case of a text.
pub(crate) fn change(text: &[u8], change: CaseChange, utf8: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let done: Result<(), std::convert::Infallible> =
        change_if(&mut out, text, change, utf8, |_| Ok(true));
    match done {
        Ok(()) => out,
        Err(never) => match never {},
    }
}

/// Changes the case of the characters that `wanted` says yes to.
pub(crate) fn change_if<E>(
    out: &mut Vec<u8>,
    text: &[u8],
    change: CaseChange,
    utf8: bool,
    mut wanted: impl FnMut(&[u8]) -> Result<bool, E>,
) -> Result<(), E> {
    let mut first = true;
    let mut one = |out: &mut Vec<u8>, bytes: &[u8], c: Option<char>| -> Result<(), E> {
        let here = first || change.all;
        first = false;
        match c {
            Some(c) if here && wanted(bytes)? => {
                let mut buf = [0; 4];
                out.extend_from_slice(turned(c, change.op).encode_utf8(&mut buf).as_bytes());
            }
            _ => out.extend_from_slice(bytes),
        }
        Ok(())
    };
    if !utf8 || text.is_ascii() {
        for byte in text {
            let c = byte.is_ascii().then(|| char::from(*byte));
            one(out, &[*byte], c)?;
        }
        return Ok(());
    }
    for chunk in text.utf8_chunks() {
        for c in chunk.valid().chars() {
            let mut buf = [0; 4];
            one(out, c.encode_utf8(&mut buf).as_bytes(), Some(c))?;
        }
        for byte in chunk.invalid() {
            one(out, &[*byte], None)?;
        }
    }
    Ok(())
}

/// Returns the character in the other case; one that would become several stays, as with `towupper`.
fn turned(c: char, op: CaseOp) -> char {
    let upper = |c: char| single(c.to_uppercase(), c);
    let lower = |c: char| single(c.to_lowercase(), c);
    match op {
        CaseOp::Upper => upper(c),
        CaseOp::Lower => lower(c),
        CaseOp::Toggle if c.is_uppercase() => lower(c),
        CaseOp::Toggle => upper(c),
    }
}

fn single(mut chars: impl Iterator<Item = char>, c: char) -> char {
    match (chars.next(), chars.next()) {
        (Some(one), None) => one,
        _ => c,
    }
}
