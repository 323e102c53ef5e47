//! File patterns of `--include` and `--exclude`: `*`, `?`, brackets, backslash.

/// Tells whether a pattern matches a whole name. Takes time in the product of both.
pub(super) fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        let step = match pattern.get(p) {
            Some(b'*') => {
                star = Some((p + 1, n));
                p += 1;
                continue;
            }
            Some(_) => one(pattern, p, name.get(n).copied().unwrap_or(0)),
            None => None,
        };
        match (step, star) {
            (Some(next), _) => {
                p = next;
                n += 1;
            }
            (None, Some((after, from))) => {
                p = after;
                n = from + 1;
                star = Some((after, from + 1));
            }
            (None, None) => return false,
        }
    }
    pattern
        .get(p..)
        .unwrap_or_default()
        .iter()
        .all(|b| *b == b'*')
}

/// Matches one byte; where the pattern goes on.
fn one(pattern: &[u8], p: usize, byte: u8) -> Option<usize> {
    match pattern.get(p)? {
        b'?' => Some(p + 1),
        b'[' => bracket(pattern, p + 1, byte),
        b'\\' => match pattern.get(p + 1) {
            Some(escaped) => (*escaped == byte).then_some(p + 2),
            None => (byte == b'\\').then_some(p + 1),
        },
        plain => (*plain == byte).then_some(p + 1),
    }
}

fn bracket(pattern: &[u8], start: usize, byte: u8) -> Option<usize> {
    let negated = matches!(pattern.get(start), Some(b'!' | b'^'));
    let mut p = start + usize::from(negated);
    let first = p;
    let mut found = false;
    loop {
        match pattern.get(p) {
            // Without an end it is a plain bracket.
            None => return (byte == b'[').then_some(start),
            Some(b']') if p > first => break,
            Some(low) => {
                let high = match (pattern.get(p + 1), pattern.get(p + 2)) {
                    (Some(b'-'), Some(high)) if *high != b']' => {
                        p += 2;
                        *high
                    }
                    _ => *low,
                };
                found |= (*low..=high).contains(&byte);
                p += 1;
            }
        }
    }
    (found != negated).then_some(p + 1)
}
