//! The command `s`: its reading, and what it puts in place of a match.

use super::compile::{Reader, Wrong};
use super::escape;
use super::script::{Action, Case, Part, Pattern, Subst};

/// Reads `s/pattern/replacement/flags`; the letter is behind the reader.
pub(super) fn read(reader: &mut Reader<'_>) -> Result<Action, Wrong> {
    let Some(delimiter) = reader.next().filter(|b| *b != b'\n' && *b != b'\\') else {
        return reader.wrong("unterminated `s' command");
    };
    let Some(pattern) = reader.delimited(delimiter, true) else {
        return reader.wrong("unterminated `s' command");
    };
    let Some(replacement) = reader.delimited(delimiter, false) else {
        return reader.wrong("unterminated `s' command");
    };
    let mut subst = Subst {
        pattern: Pattern::Last,
        parts: Vec::new(),
        plain: None,
        groups: false,
        global: false,
        number: 0,
        print: 0,
        eval: false,
        write: None,
    };
    let (ignore_case, multi) = flags(reader, &mut subst)?;
    subst.parts = parts(&replacement);
    subst.pattern = reader.pattern(&pattern, ignore_case, multi)?;
    let most = subst.parts.iter().filter_map(|part| match part {
        Part::Group(n) => Some(*n),
        _ => None,
    });
    let most = most.max().unwrap_or(0);
    if let Pattern::Is(index) = subst.pattern
        && let Some(regex) = reader.script.regexes.get(index)
        && most > regex.group_count()
    {
        return reader.wrong(format!("invalid reference \\{most} on `s' command's RHS"));
    }
    subst.groups = most > 0;
    subst.plain = match subst.parts.as_slice() {
        [] => Some(Vec::new()),
        [Part::Text(text)] => Some(text.clone()),
        _ => None,
    };
    Ok(Action::Subst(Box::new(subst)))
}

fn flags(reader: &mut Reader<'_>, subst: &mut Subst) -> Result<(bool, bool), Wrong> {
    let (mut ignore_case, mut multi) = (false, false);
    loop {
        match reader.next() {
            Some(b'i' | b'I' | b'm' | b'M' | b'e') if reader.options.posix => {
                return reader.wrong("unknown option to `s'");
            }
            Some(b'i' | b'I') => ignore_case = true,
            Some(b'm' | b'M') => multi = true,
            Some(b'e') => {
                if reader.options.sandbox {
                    return reader.wrong("e/r/w commands disabled in sandbox mode");
                }
                subst.eval = true;
            }
            Some(b'p') => {
                if subst.print > 0 {
                    return reader.wrong("multiple `p' options to `s' command");
                }
                // `pe` prints before the command runs, `ep` after.
                subst.print = 1 + u32::from(subst.eval);
            }
            Some(b'g') => {
                if subst.global {
                    return reader.wrong("multiple `g' options to `s' command");
                }
                subst.global = true;
            }
            Some(b'0'..=b'9') => {
                if subst.number > 0 {
                    return reader.wrong("multiple number options to `s' command");
                }
                reader.at -= 1;
                subst.number = reader.number();
                if subst.number == 0 {
                    return reader.wrong("number option to `s' command may not be zero");
                }
            }
            Some(b'w') => {
                if reader.options.sandbox {
                    return reader.wrong("e/r/w commands disabled in sandbox mode");
                }
                reader.skip(b"");
                let name = reader.file_name();
                if name.is_empty() {
                    return reader.wrong("missing filename in r/R/w/W commands");
                }
                subst.write = Some(reader.output(name));
                return Ok((ignore_case, multi));
            }
            Some(b' ' | b'\t' | b'\r') => {}
            Some(b'}' | b'#') => {
                reader.at -= 1;
                return Ok((ignore_case, multi));
            }
            None | Some(b'\n' | b';') => return Ok((ignore_case, multi)),
            Some(_) => return reader.wrong("unknown option to `s'"),
        }
    }
}

/// Takes a replacement apart.
fn parts(text: &[u8]) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut plain = Vec::new();
    let mut at = 0;
    while let Some(&here) = text.get(at) {
        at += 1;
        let special = match here {
            b'&' => Some(Part::Group(0)),
            b'\\' => {
                let Some(&letter) = text.get(at) else {
                    plain.push(b'\\');
                    break;
                };
                at += 1;
                match letter {
                    b'0'..=b'9' => Some(Part::Group(usize::from(letter - b'0'))),
                    b'U' => Some(Part::Case(Case::Upper)),
                    b'L' => Some(Part::Case(Case::Lower)),
                    b'E' => Some(Part::Case(Case::End)),
                    b'u' => Some(Part::Case(Case::UpperOne)),
                    b'l' => Some(Part::Case(Case::LowerOne)),
                    b'n' => {
                        plain.push(b'\n');
                        None
                    }
                    _ => {
                        let rest = text.get(at..).unwrap_or_default();
                        match escape::byte(letter, rest) {
                            Some((made, len)) => {
                                plain.push(made);
                                at += len;
                            }
                            None => plain.push(letter),
                        }
                        None
                    }
                }
            }
            _ => {
                plain.push(here);
                None
            }
        };
        if let Some(part) = special {
            if !plain.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut plain)));
            }
            parts.push(part);
        }
    }
    if !plain.is_empty() {
        parts.push(Part::Text(plain));
    }
    parts
}

/// The case in which a replacement goes on.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Casing {
    all: Option<Case>,
    one: Option<Case>,
}

impl Casing {
    /// Notes a change of case.
    pub(super) fn set(&mut self, case: Case) {
        match case {
            Case::UpperOne | Case::LowerOne => self.one = Some(case),
            Case::End => *self = Self::default(),
            Case::Upper | Case::Lower => {
                self.all = Some(case);
            }
        }
    }

    /// Appends text in the case that holds.
    pub(super) fn put(&mut self, text: &[u8], utf8: bool, out: &mut Vec<u8>) {
        if (self.all, self.one) == (None, None) {
            out.extend_from_slice(text);
            return;
        }
        let mut rest = text;
        while !rest.is_empty() {
            let case = self.one.take().or(self.all);
            let (c, len) = if utf8 {
                match jp_bash_regex::decode(rest) {
                    Some(found) => found,
                    None => {
                        out.extend(rest.first());
                        rest = rest.get(1..).unwrap_or_default();
                        continue;
                    }
                }
            } else {
                let byte = rest.first().copied().unwrap_or(0);
                let byte = match case {
                    Some(Case::Upper | Case::UpperOne) => byte.to_ascii_uppercase(),
                    Some(Case::Lower | Case::LowerOne) => byte.to_ascii_lowercase(),
                    _ => byte,
                };
                out.push(byte);
                rest = rest.get(1..).unwrap_or_default();
                continue;
            };
            let mut buf = [0; 4];
            let made = match case {
                Some(Case::Upper | Case::UpperOne) => one_char(c, c.to_uppercase()),
                Some(Case::Lower | Case::LowerOne) => one_char(c, c.to_lowercase()),
                _ => c,
            };
            out.extend_from_slice(made.encode_utf8(&mut buf).as_bytes());
            rest = rest.get(len..).unwrap_or_default();
        }
    }
}

/// Case changes of C are from one character to one.
fn one_char(from: char, mut to: impl Iterator<Item = char>) -> char {
    match (to.next(), to.next()) {
        (Some(only), None) => only,
        _ => from,
    }
}
