//! `--format` of `numfmt`: text around one `%[0]['][-][WIDTH][.PRECISION]f`.

use super::Wanted;
use crate::numbers::signed;
use crate::quote::quote;

/// Reads a format; the error is a message.
pub(super) fn read(text: &[u8], wanted: &mut Wanted, utf8: bool) -> Result<(), Vec<u8>> {
    let shown = quote(utf8, text);
    let wrong = |before: &[u8], behind: &[u8]| [before, &shown, behind].concat();
    let mut percent = 0;
    loop {
        match text.get(percent..).unwrap_or_default() {
            [b'%', b'%', ..] => {
                wanted.before.push(b'%');
                percent += 2;
            }
            [b'%', ..] => break,
            [byte, ..] => {
                wanted.before.push(*byte);
                percent += 1;
            }
            [] => return Err(wrong(b"format ", b" has no % directive")),
        }
    }
    let mut rest = text.get(percent + 1..).unwrap_or_default();
    while let [flag @ (b'\'' | b'0' | b' '), tail @ ..] = rest {
        wanted.zeros |= *flag == b'0';
        rest = tail;
    }
    let (width, after) = number(rest);
    if let Some(width) = width {
        let columns = usize::try_from(width.unsigned_abs()).unwrap_or(usize::MAX);
        if columns > 0 {
            wanted.padding = Some((columns, width < 0));
        }
        rest = after;
    }
    if rest.is_empty() {
        return Err(wrong(b"format ", b" ends in %"));
    }
    if let Some(tail) = rest.strip_prefix(b".") {
        if matches!(tail.first(), Some(b'-' | b'+' | b' ' | b'\t')) {
            return Err(wrong(b"invalid precision in format ", b""));
        }
        let (digits, after) = number(tail);
        let digits = usize::try_from(digits.unwrap_or(0)).unwrap_or(60);
        wanted.precision = Some(usize::min(digits, 60));
        rest = after;
    }
    let Some(behind) = rest.strip_prefix(b"f") else {
        let form = b", directive must be %[0]['][-][N][.][N]f";
        return Err(wrong(b"invalid format ", form));
    };
    let mut tail = behind;
    while let Some(at) = memchr::memchr(b'%', tail) {
        if tail.get(at + 1) != Some(&b'%') {
            return Err(wrong(b"format ", b" has too many % directives"));
        }
        tail = tail.get(at + 2..).unwrap_or_default();
    }
    wanted.behind = behind.to_vec();
    Ok(())
}

/// Reads a number with a sign as `strtol` does; nothing if there is none.
fn number(text: &[u8]) -> (Option<i64>, &[u8]) {
    let sign = usize::from(matches!(text.first(), Some(b'-' | b'+')));
    let digits = text
        .iter()
        .skip(sign)
        .take_while(|byte| byte.is_ascii_digit());
    let len = digits.count();
    if len == 0 {
        return (None, text);
    }
    let (number, rest) = text.split_at_checked(sign + len).unwrap_or((text, b""));
    let number = signed(number, i64::MIN, i64::MAX).unwrap_or(i64::MAX);
    (Some(number), rest)
}
