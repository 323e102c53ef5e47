//! The options of `sort`: its table, and what each one sets.

use jp_bash_system::{Stop, System};

use super::choice::{Words, choose};
use super::numbers::{BadNumber, size};
use super::options::{HELP, Opt, Takes, VERSION, hidden, opt, refused};
use super::quote::{quote, quote_name};
use super::sort_key::{Key, Side};

const BATCH_SIZE: char = '\u{200}';
pub(super) const CHECK: char = '\u{201}';
const COMPRESS: char = '\u{202}';
const FILES0_FROM: char = '\u{203}';
const PARALLEL: char = '\u{204}';
const RANDOM_SOURCE: char = '\u{205}';
const SORT: char = '\u{206}';

/// Every option of `sort`.
pub(super) const OPTIONS: &[Opt] = &[
    opt(
        'b',
        Some(b'b'),
        Some("ignore-leading-blanks"),
        Takes::Nothing,
    ),
    opt('d', Some(b'd'), Some("dictionary-order"), Takes::Nothing),
    opt('f', Some(b'f'), Some("ignore-case"), Takes::Nothing),
    opt(
        'g',
        Some(b'g'),
        Some("general-numeric-sort"),
        Takes::Nothing,
    ),
    opt('i', Some(b'i'), Some("ignore-nonprinting"), Takes::Nothing),
    opt('M', Some(b'M'), Some("month-sort"), Takes::Nothing),
    opt('h', Some(b'h'), Some("human-numeric-sort"), Takes::Nothing),
    opt('n', Some(b'n'), Some("numeric-sort"), Takes::Nothing),
    opt('R', Some(b'R'), Some("random-sort"), Takes::Nothing),
    opt(RANDOM_SOURCE, None, Some("random-source"), Takes::Required),
    opt('r', Some(b'r'), Some("reverse"), Takes::Nothing),
    opt(SORT, None, Some("sort"), Takes::Required),
    opt('V', Some(b'V'), Some("version-sort"), Takes::Nothing),
    opt(BATCH_SIZE, None, Some("batch-size"), Takes::Required),
    opt('c', Some(b'c'), None, Takes::Nothing),
    opt('C', Some(b'C'), None, Takes::Nothing),
    opt(CHECK, None, Some("check"), Takes::Optional),
    opt(COMPRESS, None, Some("compress-program"), Takes::Required),
    refused(
        None,
        Some("debug"),
        Takes::Nothing,
        "keys are not annotated",
    ),
    opt(FILES0_FROM, None, Some("files0-from"), Takes::Required),
    opt('k', Some(b'k'), Some("key"), Takes::Required),
    opt('m', Some(b'm'), Some("merge"), Takes::Nothing),
    opt('o', Some(b'o'), Some("output"), Takes::Required),
    opt('s', Some(b's'), Some("stable"), Takes::Nothing),
    opt('S', Some(b'S'), Some("buffer-size"), Takes::Required),
    opt('t', Some(b't'), Some("field-separator"), Takes::Required),
    opt(
        'T',
        Some(b'T'),
        Some("temporary-directory"),
        Takes::Required,
    ),
    opt(PARALLEL, None, Some("parallel"), Takes::Required),
    opt('u', Some(b'u'), Some("unique"), Takes::Nothing),
    opt('z', Some(b'z'), Some("zero-terminated"), Takes::Nothing),
    HELP,
    VERSION,
    hidden(b'y', Takes::Required),
];

/// What the options say.
#[derive(Default)]
pub(super) struct Settings {
    pub(super) global: Key,
    pub(super) keys: Vec<Key>,
    pub(super) tab: Option<u8>,
    pub(super) check: Option<char>,
    pub(super) merge: bool,
    pub(super) output: Option<Vec<u8>>,
    pub(super) stable: bool,
    pub(super) unique: bool,
    pub(super) zero: bool,
    pub(super) files_from: Option<Vec<u8>>,
    pub(super) random_source: Option<Vec<u8>>,
    pub(super) compress: Option<Vec<u8>>,
}

/// How a wrong option is reported: a message, and whether the hint follows.
pub(super) enum Bad {
    Plain(Vec<u8>),
    Reported,
}

impl From<&str> for Bad {
    fn from(text: &str) -> Self {
        Self::Plain(text.as_bytes().to_vec())
    }
}

/// Applies one option.
pub(super) fn set(
    sys: &mut dyn System,
    args: &[Vec<u8>],
    settings: &mut Settings,
    id: char,
    value: Vec<u8>,
) -> Result<Result<(), Bad>, Stop> {
    let utf8 = sys.utf8();
    match id {
        'c' | 'C' => return Ok(settings.set_check(id)),
        CHECK => {
            let words: &Words = &[&["quiet", "silent"], &["diagnose-first"]];
            let Ok(chosen) = choose(sys, args, "--check", &value, words)? else {
                return Ok(Err(Bad::Reported));
            };
            return Ok(settings.set_check(if chosen == 0 { 'C' } else { 'c' }));
        }
        SORT => {
            let words: &Words = &[
                &["general-numeric"],
                &["human-numeric"],
                &["month"],
                &["numeric"],
                &["random"],
                &["version"],
            ];
            let Ok(chosen) = choose(sys, args, "--sort", &value, words)? else {
                return Ok(Err(Bad::Reported));
            };
            settings
                .global
                .order(*b"ghMnRV".get(chosen).unwrap_or(&b'n'), Side::Both);
        }
        'k' => match Key::read(&value, utf8) {
            Ok(key) => settings.keys.push(key),
            Err(message) => return Ok(Err(Bad::Plain(message))),
        },
        't' => return Ok(settings.set_tab(&value, utf8)),
        'm' => settings.merge = true,
        's' => settings.stable = true,
        'u' => settings.unique = true,
        'z' => settings.zero = true,
        'T' => {}
        FILES0_FROM => settings.files_from = Some(value),
        'o' => {
            return Ok(once(
                &mut settings.output,
                value,
                "multiple output files specified",
            ));
        }
        COMPRESS => {
            return Ok(once(
                &mut settings.compress,
                value,
                "multiple compress programs specified",
            ));
        }
        RANDOM_SOURCE => {
            return Ok(once(
                &mut settings.random_source,
                value,
                "multiple random sources specified",
            ));
        }
        'S' | PARALLEL | BATCH_SIZE => return Ok(check_size(id, &value, utf8)),
        letter => {
            settings
                .global
                .order(u8::try_from(letter).unwrap_or(0), Side::Both);
        }
    }
    Ok(Ok(()))
}

fn once(slot: &mut Option<Vec<u8>>, value: Vec<u8>, why: &str) -> Result<(), Bad> {
    if slot.as_ref().is_some_and(|old| *old != value) {
        return Err(why.into());
    }
    *slot = Some(value);
    Ok(())
}

impl Settings {
    /// Sets `-c` or `-C`, which exclude each other.
    pub(super) fn set_check(&mut self, how: char) -> Result<(), Bad> {
        if self.check.is_some_and(|old| old != how) {
            return Err("options '-cC' are incompatible".into());
        }
        self.check = Some(how);
        Ok(())
    }

    fn set_tab(&mut self, value: &[u8], utf8: bool) -> Result<(), Bad> {
        let tab = match value {
            [] => return Err("empty tab".into()),
            [tab] => *tab,
            b"\\0" => 0,
            _ => {
                return Err(Bad::Plain(
                    [b"multi-character tab ", quote(utf8, value).as_slice()].concat(),
                ));
            }
        };
        if self.tab.is_some_and(|old| old != tab) {
            return Err("incompatible tabs".into());
        }
        self.tab = Some(tab);
        Ok(())
    }
}

/// Checks sizes that are accepted and make no difference here.
fn check_size(id: char, value: &[u8], utf8: bool) -> Result<(), Bad> {
    let (name, suffixes): (&str, &[u8]) = match id {
        'S' => ("-S", b"EgGkKmMPtTYZ"),
        PARALLEL => ("--parallel", b""),
        _ => ("--batch-size", b""),
    };
    let digits = value
        .strip_suffix(b"%")
        .or_else(|| value.strip_suffix(b"b"))
        .unwrap_or(value);
    let text = if id == 'S' { digits } else { value };
    let found = match size(text, suffixes) {
        Err(BadNumber::Invalid) if id == 'S' && text.first().is_some_and(u8::is_ascii_digit) => {
            Err(BadNumber::Suffix)
        }
        // A suffix alone is no size here.
        Ok(_) if !text.iter().any(u8::is_ascii_digit) => Err(BadNumber::Invalid),
        found => found,
    };
    let shown = quote_name(utf8, value);
    match found {
        Ok(0) if id == PARALLEL => Err("number in parallel must be nonzero".into()),
        Ok(small @ (0 | 1)) if id == BATCH_SIZE => {
            let text = format!(
                "invalid --batch-size argument {0}{small}{1}\nsort: minimum --batch-size argument is {0}2{1}",
                if utf8 { "‘" } else { "'" },
                if utf8 { "’" } else { "'" },
            );
            Err(text.as_str().into())
        }
        Ok(_) => Ok(()),
        Err(BadNumber::Overflow) if id == PARALLEL => Ok(()),
        Err(BadNumber::Overflow) => Err(Bad::Plain(
            [name.as_bytes(), b" argument ", &shown, b" too large"].concat(),
        )),
        Err(BadNumber::Suffix) => Err(Bad::Plain(
            [
                b"invalid suffix in ",
                name.as_bytes(),
                b" argument ",
                &shown,
            ]
            .concat(),
        )),
        Err(BadNumber::Invalid) => Err(Bad::Plain(
            [b"invalid ", name.as_bytes(), b" argument ", &shown].concat(),
        )),
    }
}

/// Turns the old `+POS1 [-POS2]`, which counts from 0, into `-k`.
pub(super) fn modern(args: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut out = Vec::with_capacity(args.len());
    let mut rest = args.iter().peekable();
    while let Some(arg) = rest.next() {
        if arg == b"--" {
            out.push(arg.clone());
            out.extend(rest.cloned());
            break;
        }
        // What belongs to the option before is not looked at.
        let takes = matches!(arg.as_slice(), [b'-', .., b'k' | b'o' | b'S' | b't' | b'T'])
            && !arg.starts_with(b"--");
        let Some((from, letters)) = arg.strip_prefix(b"+").and_then(old_position) else {
            out.push(arg.clone());
            if takes {
                out.extend(rest.next().cloned());
            }
            continue;
        };
        let mut key =
            format!("{}.{}", from.0.saturating_add(1), from.1.saturating_add(1)).into_bytes();
        key.extend_from_slice(letters);
        let to = rest
            .peek()
            .and_then(|next| next.strip_prefix(b"-"))
            .and_then(old_position);
        if let Some(((field, byte), letters)) = to {
            rest.next();
            let end = if byte == 0 {
                format!(",{}", usize::max(field, 1))
            } else {
                format!(",{}.{byte}", field.saturating_add(1))
            };
            key.extend_from_slice(end.as_bytes());
            key.extend_from_slice(letters);
        }
        out.push(b"-k".to_vec());
        out.push(key);
    }
    out
}

/// Reads `F[.C][OPTS]` of the old form.
fn old_position(text: &[u8]) -> Option<((usize, usize), &[u8])> {
    let number = |text: &[u8]| {
        let len = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let digits = std::str::from_utf8(text.get(..len)?).ok()?;
        Some((digits.parse::<usize>().ok()?, len))
    };
    let (field, len) = number(text)?;
    let mut rest = text.get(len..)?;
    let mut byte = 0;
    if let Some(after) = rest.strip_prefix(b".") {
        let (found, len) = number(after)?;
        byte = found;
        rest = after.get(len..)?;
    }
    let known = rest.iter().all(|letter| b"bdfgiMhnRrV".contains(letter));
    known.then_some(((field, byte), rest))
}
