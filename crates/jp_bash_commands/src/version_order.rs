//! The order of version numbers in text: `sort -V`, `ls -v`.

use std::cmp::Ordering;

/// Compares names so that numbers in them count as numbers (`a2` before `a10`), as gnulib's `filevercmp`.
pub(crate) fn compare(a: &[u8], b: &[u8]) -> Ordering {
    let rank = |name: &[u8]| match name {
        b"" => 0,
        b"." => 1,
        b".." => 2,
        [b'.', ..] => 3,
        _ => 4,
    };
    match rank(a).cmp(&rank(b)) {
        Ordering::Equal if rank(a) < 3 => return Ordering::Equal,
        Ordering::Equal => {}
        order => return order,
    }
    let (a_stem, b_stem) = (stem(a), stem(b));
    // Names that differ only in `.tar.gz` and the like are told apart by a second look at the whole.
    parts(a_stem, b_stem).then_with(|| parts(a, b))
}

/// Cuts endings such as `.tar.gz` off; a name may be nothing but endings.
fn stem(name: &[u8]) -> &[u8] {
    let mut at = 0;
    let mut end = 0;
    loop {
        while name.get(at) == Some(&b'.')
            && name
                .get(at + 1)
                .is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'~')
        {
            at += 2;
            while name
                .get(at)
                .is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'~')
            {
                at += 1;
            }
        }
        if at >= name.len() {
            return name.get(..end).unwrap_or(name);
        }
        at += 1;
        end = at;
    }
}

fn weight(byte: Option<&u8>) -> i32 {
    match byte {
        None => -1,
        Some(b'~') => -2,
        Some(byte) if byte.is_ascii_digit() => 0,
        Some(byte) if byte.is_ascii_alphabetic() => i32::from(*byte),
        Some(byte) => i32::from(*byte) + 256,
    }
}

/// Compares text and numbers in turn.
fn parts(mut a: &[u8], mut b: &[u8]) -> Ordering {
    let text = |rest: &[u8]| rest.first().is_some_and(|byte| !byte.is_ascii_digit());
    while !a.is_empty() || !b.is_empty() {
        while text(a) || text(b) {
            match weight(a.first()).cmp(&weight(b.first())) {
                Ordering::Equal => {}
                order => return order,
            }
            a = a.get(1..).unwrap_or_default();
            b = b.get(1..).unwrap_or_default();
        }
        let (a_digits, a_rest) = number(a);
        let (b_digits, b_rest) = number(b);
        let order = a_digits
            .len()
            .cmp(&b_digits.len())
            .then_with(|| a_digits.cmp(b_digits));
        if order != Ordering::Equal {
            return order;
        }
        a = a_rest;
        b = b_rest;
    }
    Ordering::Equal
}

/// Splits digits off, without leading zeros.
fn number(text: &[u8]) -> (&[u8], &[u8]) {
    let zeros = text.iter().take_while(|byte| **byte == b'0').count();
    let text = text.get(zeros..).unwrap_or_default();
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    text.split_at_checked(digits).unwrap_or((text, b""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_in_version_order() {
        let names = [
            "", ".", "..", ".a", ".b", "1.0~rc1", "1.0", "1.0.1", "1.2", "1.10", "a", "a.tar.gz",
            "a1", "a1.txt", "a2", "a10", "b~", "b",
        ];
        for pair in names.windows(2) {
            assert_eq!(
                compare(pair[0].as_bytes(), pair[1].as_bytes()),
                Ordering::Less,
                "{pair:?}"
            );
        }
        assert_eq!(compare(b"a01", b"a1"), Ordering::Equal);
        let sorted = [
            ".a", ".b", "a", "a1", "a2", "a2.txt", "a10", "a10.txt", "b-1.2.3", "b-1.10",
        ];
        let mut names: Vec<&str> = sorted.iter().rev().copied().collect();
        names.sort_by(|a, b| compare(a.as_bytes(), b.as_bytes()));
        assert_eq!(names, sorted);
    }
}
