//! `nl`: numbers lines.

use jp_bash_regex::{Flags, Flavor, MatchError, Regex};
use jp_bash_system::io::Input;
use jp_bash_system::{Stop, SysResult, System, failed};

use super::Spec;
use super::file::{Cmd, HELP, VERSION};
use super::numbers::signed;
use super::options::{Opt, Takes, opt};

/// The command.
pub(crate) const SPEC: Spec = Spec {
    name: "nl",
    about: "Numbers the lines of files.",
    run,
    options: OPTIONS,
};

const OPTIONS: &[Opt] = &[
    opt('b', Some(b'b'), Some("body-numbering"), Takes::Required),
    opt('d', Some(b'd'), Some("section-delimiter"), Takes::Required),
    opt('f', Some(b'f'), Some("footer-numbering"), Takes::Required),
    opt('h', Some(b'h'), Some("header-numbering"), Takes::Required),
    opt('i', Some(b'i'), Some("line-increment"), Takes::Required),
    opt('l', Some(b'l'), Some("join-blank-lines"), Takes::Required),
    opt('n', Some(b'n'), Some("number-format"), Takes::Required),
    opt('p', Some(b'p'), Some("no-renumber"), Takes::Nothing),
    opt('s', Some(b's'), Some("number-separator"), Takes::Required),
    opt(
        'v',
        Some(b'v'),
        Some("starting-line-number"),
        Takes::Required,
    ),
    opt('w', Some(b'w'), Some("number-width"), Takes::Required),
    HELP,
    VERSION,
];

/// Which lines of a section get a number.
enum Style {
    All,
    Text,
    None,
    Matching(Regex),
}

struct Settings {
    /// Header, body, footer.
    styles: [Style; 3],
    start: i64,
    step: i64,
    blanks: u64,
    left: bool,
    zeros: bool,
    renumber: bool,
    separator: Vec<u8>,
    width: usize,
    /// What begins a section when it stands alone: thrice for a header, twice for a body.
    delimiter: Vec<u8>,
}

/// Runs `nl`.
pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let mut cmd = Cmd::new(sys, args);
    let parsed = match cmd.options(args, OPTIONS, "[OPTION]... [FILE]...")? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let settings = match settings(&mut cmd, &parsed.options) {
        Ok(settings) => settings,
        Err(Wrong::Stop(stop)) => return Err(stop),
        Err(Wrong::Usage(message)) => return cmd.usage(&[&message]),
        Err(Wrong::Message(message)) => {
            cmd.error(&[&message])?;
            return cmd.finish();
        }
    };
    let mut files = parsed.operands;
    if files.is_empty() {
        files.push(b"-".to_vec());
    }
    let mut state = State {
        section: 1,
        number: settings.start,
        blank: 0,
    };
    for file in &files {
        let done = match failed(Input::open(cmd.sys, file))? {
            Ok(mut input) => {
                let done = number(&mut cmd, &settings, &mut input, &mut state);
                input.close(cmd.sys);
                failed(done)?
            }
            Err(errno) => Err(errno),
        };
        if let Err(errno) = done {
            let name = cmd.qf(file);
            cmd.fail(&[&name], errno)?;
        }
    }
    cmd.finish()
}

/// Why there are no settings.
enum Wrong {
    /// A message that is followed by the hint to try `--help`.
    Usage(Vec<u8>),
    /// A message alone.
    Message(Vec<u8>),
    Stop(Stop),
}

fn settings(cmd: &mut Cmd<'_>, options: &[(char, Option<Vec<u8>>)]) -> Result<Settings, Wrong> {
    let mut settings = Settings {
        styles: [Style::None, Style::Text, Style::None],
        start: 1,
        step: 1,
        blanks: 1,
        left: false,
        zeros: false,
        renumber: true,
        separator: b"\t".to_vec(),
        width: 6,
        delimiter: b"\\:".to_vec(),
    };
    for (id, value) in options {
        let text = value.as_deref().unwrap_or_default();
        let quoted = cmd.quote(text);
        let integer = |what: &[u8], least: i64, most: i64| {
            signed(text, least, most)
                .map_err(|why| Wrong::Message([b"invalid ", what, b": ", &quoted, why].concat()))
        };
        match id {
            'b' | 'f' | 'h' => {
                let style = style(cmd, *id, text)?;
                let at = match id {
                    'h' => 0,
                    'b' => 1,
                    _ => 2,
                };
                if let Some(slot) = settings.styles.get_mut(at) {
                    *slot = style;
                }
            }
            // One character is followed by a colon.
            'd' if text.len() == 1 => settings.delimiter = [text, b":"].concat(),
            'd' => settings.delimiter = text.to_vec(),
            'i' => settings.step = integer(b"line number increment", i64::MIN, i64::MAX)?,
            'l' => {
                let count = integer(b"line number of blank lines", 1, i64::MAX)?;
                settings.blanks = u64::try_from(count).unwrap_or(1);
            }
            'n' => match text {
                b"ln" => (settings.left, settings.zeros) = (true, false),
                b"rn" => (settings.left, settings.zeros) = (false, false),
                b"rz" => (settings.left, settings.zeros) = (false, true),
                _ => {
                    let shown = cmd.quote(text);
                    let message = [&b"invalid line numbering format: "[..], &shown].concat();
                    return Err(Wrong::Usage(message));
                }
            },
            'p' => settings.renumber = false,
            's' => settings.separator = text.to_vec(),
            'v' => settings.start = integer(b"starting line number", i64::MIN, i64::MAX)?,
            'w' => {
                // GNU allows more, and would fill the memory with blanks.
                let width = integer(b"line number field width", 1, 4096)?;
                settings.width = usize::try_from(width).unwrap_or(1);
            }
            _ => {}
        }
    }
    Ok(settings)
}

/// Reads which lines of a section get a number.
fn style(cmd: &mut Cmd<'_>, id: char, text: &[u8]) -> Result<Style, Wrong> {
    Ok(match text {
        b"a" => Style::All,
        b"t" => Style::Text,
        b"n" => Style::None,
        [b'p', pattern @ ..] => {
            let flags = Flags {
                utf8: cmd.sys.utf8(),
                ..Flags::default()
            };
            let regex = Regex::new(cmd.sys, pattern, Flavor::Basic, flags).map_err(Wrong::Stop)?;
            Style::Matching(regex.map_err(|error| Wrong::Usage(error.to_string().into_bytes()))?)
        }
        _ => {
            let which: &[u8] = match id {
                'b' => b"body",
                'f' => b"footer",
                _ => b"header",
            };
            let shown = cmd.quote(text);
            let message = [b"invalid ", which, b" numbering style: ", &shown].concat();
            return Err(Wrong::Usage(message));
        }
    })
}

/// Returns the section that a line begins, if it does.
fn section(line: &[u8], mark: &[u8]) -> Option<usize> {
    let whole =
        !mark.is_empty() && line.len() <= 3 * mark.len() && line.len().is_multiple_of(mark.len());
    let marks = if whole && line.chunks(mark.len()).all(|part| part == mark) {
        line.len() / mark.len()
    } else {
        0
    };
    (1..=3).contains(&marks).then(|| 3 - marks)
}

struct State {
    section: usize,
    number: i64,
    blank: u64,
}

fn number(
    cmd: &mut Cmd<'_>,
    settings: &Settings,
    input: &mut Input,
    state: &mut State,
) -> SysResult<()> {
    while let Some(line) = input.record(cmd.sys, b'\n')? {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let section = section(line, &settings.delimiter);
        if let Some(section) = section {
            state.section = section;
            if settings.renumber {
                state.number = settings.start;
            }
            cmd.put(b"\n")?;
            continue;
        }
        let style = settings.styles.get(state.section);
        let counted = match style.unwrap_or(&Style::None) {
            Style::Matching(regex) => regex
                .is_match_at(cmd.sys, line, 0)
                .map_err(MatchError::into_stop)?,
            Style::All if line.is_empty() && settings.blanks > 1 => {
                state.blank += 1;
                let due = state.blank == settings.blanks;
                if due {
                    state.blank = 0;
                }
                due
            }
            Style::All => true,
            Style::Text => !line.is_empty(),
            Style::None => false,
        };
        if !line.is_empty() {
            state.blank = 0;
        }
        let width = settings.width;
        if counted {
            let number = state.number;
            let text = match (settings.left, settings.zeros) {
                (true, _) => format!("{number:<width$}"),
                (_, true) => format!("{number:0width$}"),
                _ => format!("{number:width$}"),
            };
            cmd.put(text.as_bytes())?;
            cmd.put(&settings.separator)?;
            state.number = state.number.wrapping_add(settings.step);
        } else {
            let blanks = width + settings.separator.len();
            cmd.out.repeat(cmd.sys, b' ', blanks)?;
        }
        cmd.put(line)?;
        cmd.put(b"\n")?;
    }
    Ok(())
}
