//! The options of `ls`.

use jp_bash_system::Stop;

use super::color::Colors;
use crate::file::size::{Scale, bad_block_size, block_size_of, parse_block_size};
use crate::file::{Cmd, HELP, VERSION, argmatch};
use crate::numbers::{BadNumber, size, unsigned};
use crate::options::{Opt, Parsed, Takes, opt, refused};
use crate::quote::Style;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Long,
    Single,
    Columns,
    Across,
    Commas,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hidden {
    No,
    Almost,
    All,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    None,
    Name,
    Size,
    Time,
    Version,
    Extension,
    Width,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Time {
    Modify,
    Access,
    Change,
    Birth,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Indicator {
    None,
    Slash,
    FileType,
    Classify,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Deref {
    Never,
    Operands,
    /// Symlinks to directories, where they are operands.
    OperandDirs,
    Always,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    Never,
    Auto,
    Always,
}

/// Everything that the options decide.
pub(super) struct Settings {
    pub(super) format: Format,
    pub(super) hidden: Hidden,
    pub(super) sort: Sort,
    pub(super) reverse: bool,
    pub(super) time: Time,
    pub(super) indicator: Indicator,
    pub(super) deref: Deref,
    pub(super) style: Style,
    /// Control characters are shown as `?`.
    pub(super) hide_control: bool,
    pub(super) directory: bool,
    pub(super) recursive: bool,
    pub(super) inode: bool,
    pub(super) blocks: bool,
    pub(super) numeric: bool,
    pub(super) owner: bool,
    pub(super) group: bool,
    pub(super) author: bool,
    pub(super) dirs_first: bool,
    pub(super) file_scale: Scale,
    pub(super) block_scale: Scale,
    pub(super) width: usize,
    pub(super) tab: usize,
    pub(super) end: u8,
    pub(super) ignore: Vec<Vec<u8>>,
    pub(super) hide: Vec<Vec<u8>>,
    /// Two formats: for times long ago and for recent ones.
    pub(super) time_format: (String, String),
    pub(super) colors: Option<Colors>,
}

pub(super) const OPTIONS: &[Opt] = &[
    opt('a', Some(b'a'), Some("all"), Takes::Nothing),
    opt('A', Some(b'A'), Some("almost-all"), Takes::Nothing),
    opt('0', None, Some("author"), Takes::Nothing),
    opt('b', Some(b'b'), Some("escape"), Takes::Nothing),
    opt('2', None, Some("block-size"), Takes::Required),
    opt('B', Some(b'B'), Some("ignore-backups"), Takes::Nothing),
    opt('c', Some(b'c'), None, Takes::Nothing),
    opt('C', Some(b'C'), None, Takes::Nothing),
    opt('3', None, Some("color"), Takes::Optional),
    opt('d', Some(b'd'), Some("directory"), Takes::Nothing),
    refused(Some(b'D'), Some("dired"), Takes::Nothing, "no Emacs here"),
    opt('f', Some(b'f'), None, Takes::Nothing),
    opt('F', Some(b'F'), None, Takes::Nothing),
    opt('!', None, Some("classify"), Takes::Optional),
    opt('4', None, Some("file-type"), Takes::Nothing),
    opt('5', None, Some("format"), Takes::Required),
    opt('6', None, Some("full-time"), Takes::Nothing),
    opt('g', Some(b'g'), None, Takes::Nothing),
    opt('7', None, Some("group-directories-first"), Takes::Nothing),
    opt('G', Some(b'G'), Some("no-group"), Takes::Nothing),
    opt('h', Some(b'h'), Some("human-readable"), Takes::Nothing),
    opt('8', None, Some("si"), Takes::Nothing),
    opt(
        'H',
        Some(b'H'),
        Some("dereference-command-line"),
        Takes::Nothing,
    ),
    opt(
        '9',
        None,
        Some("dereference-command-line-symlink-to-dir"),
        Takes::Nothing,
    ),
    opt('@', None, Some("hide"), Takes::Required),
    refused(None, Some("hyperlink"), Takes::Optional, "no terminal here"),
    opt('#', None, Some("indicator-style"), Takes::Required),
    opt('i', Some(b'i'), Some("inode"), Takes::Nothing),
    opt('I', Some(b'I'), Some("ignore"), Takes::Required),
    opt('k', Some(b'k'), Some("kibibytes"), Takes::Nothing),
    opt('l', Some(b'l'), None, Takes::Nothing),
    opt('L', Some(b'L'), Some("dereference"), Takes::Nothing),
    opt('m', Some(b'm'), None, Takes::Nothing),
    opt('n', Some(b'n'), Some("numeric-uid-gid"), Takes::Nothing),
    opt('N', Some(b'N'), Some("literal"), Takes::Nothing),
    opt('o', Some(b'o'), None, Takes::Nothing),
    opt('p', Some(b'p'), None, Takes::Nothing),
    opt('q', Some(b'q'), Some("hide-control-chars"), Takes::Nothing),
    opt('$', None, Some("show-control-chars"), Takes::Nothing),
    opt('Q', Some(b'Q'), Some("quote-name"), Takes::Nothing),
    opt('%', None, Some("quoting-style"), Takes::Required),
    opt('r', Some(b'r'), Some("reverse"), Takes::Nothing),
    opt('R', Some(b'R'), Some("recursive"), Takes::Nothing),
    opt('s', Some(b's'), Some("size"), Takes::Nothing),
    opt('S', Some(b'S'), None, Takes::Nothing),
    opt('^', None, Some("sort"), Takes::Required),
    opt('&', None, Some("time"), Takes::Required),
    opt('*', None, Some("time-style"), Takes::Required),
    opt('t', Some(b't'), None, Takes::Nothing),
    opt('T', Some(b'T'), Some("tabsize"), Takes::Required),
    opt('u', Some(b'u'), None, Takes::Nothing),
    opt('U', Some(b'U'), None, Takes::Nothing),
    opt('v', Some(b'v'), None, Takes::Nothing),
    opt('w', Some(b'w'), Some("width"), Takes::Required),
    opt('x', Some(b'x'), None, Takes::Nothing),
    opt('X', Some(b'X'), None, Takes::Nothing),
    refused(
        Some(b'Z'),
        Some("context"),
        Takes::Nothing,
        "no SELinux here",
    ),
    opt('z', None, Some("zero"), Takes::Nothing),
    opt('1', Some(b'1'), None, Takes::Nothing),
    HELP,
    VERSION,
];

/// What is collected before defaults are filled in.
struct Draft {
    settings: Settings,
    sort: Option<Sort>,
    time_given: bool,
    style: Option<Style>,
    hide_control: Option<bool>,
    deref: Option<Deref>,
    color: When,
    time_style: Option<Vec<u8>>,
    tty: bool,
}

/// Reads the options; `None` after a message (the status is set).
pub(super) fn settings(cmd: &mut Cmd<'_>, parsed: &Parsed) -> Result<Option<Settings>, Stop> {
    let mut draft = draft(cmd);
    for (id, value) in &parsed.options {
        let value = value.as_deref();
        if !flag(&mut draft, *id) && !word(cmd, &mut draft, *id, value)? {
            return Ok(None);
        }
    }
    finish(cmd, draft)
}

fn draft(cmd: &Cmd<'_>) -> Draft {
    let tty = cmd.sys.is_tty(1);
    let columns = cmd.sys.env(b"COLUMNS").and_then(|value| {
        let value = std::str::from_utf8(&value).ok()?.parse::<usize>().ok()?;
        Some(value)
    });
    Draft {
        settings: Settings {
            format: if tty { Format::Columns } else { Format::Single },
            hidden: Hidden::No,
            sort: Sort::Name,
            reverse: false,
            time: Time::Modify,
            indicator: Indicator::None,
            deref: Deref::Never,
            style: Style::Literal,
            hide_control: false,
            directory: false,
            recursive: false,
            inode: false,
            blocks: false,
            numeric: false,
            owner: true,
            group: true,
            author: false,
            dirs_first: false,
            file_scale: Scale::Blocks(1, ""),
            block_scale: block_size_of(|name| cmd.sys.env(name), b"LS_BLOCK_SIZE")
                .unwrap_or(Scale::Blocks(1024, "")),
            width: columns.unwrap_or(80),
            tab: 8,
            end: b'\n',
            ignore: Vec::new(),
            hide: Vec::new(),
            time_format: (String::new(), String::new()),
            colors: None,
        },
        sort: None,
        time_given: false,
        style: None,
        hide_control: None,
        deref: None,
        color: When::Never,
        time_style: cmd.sys.env(b"TIME_STYLE").filter(|style| !style.is_empty()),
        tty,
    }
}

/// Takes an option without an argument; `false` if it is none.
fn flag(draft: &mut Draft, id: char) -> bool {
    let s = &mut draft.settings;
    match id {
        'a' => s.hidden = Hidden::All,
        'A' => s.hidden = Hidden::Almost,
        '0' => s.author = true,
        'b' => draft.style = Some(Style::Escape),
        'B' => {
            s.ignore.push(b"*~".to_vec());
            s.ignore.push(b".*~".to_vec());
        }
        'c' => (s.time, draft.time_given) = (Time::Change, true),
        'u' => (s.time, draft.time_given) = (Time::Access, true),
        'C' => s.format = Format::Columns,
        'x' => s.format = Format::Across,
        'm' => s.format = Format::Commas,
        'l' => s.format = Format::Long,
        '1' if s.format != Format::Long => s.format = Format::Single,
        'd' => s.directory = true,
        'f' => {
            s.hidden = Hidden::All;
            draft.sort = Some(Sort::None);
            if s.format == Format::Long {
                s.format = if draft.tty {
                    Format::Columns
                } else {
                    Format::Single
                };
            }
            s.blocks = false;
            draft.color = When::Never;
        }
        'F' => s.indicator = Indicator::Classify,
        '4' => s.indicator = Indicator::FileType,
        'p' => s.indicator = Indicator::Slash,
        '6' => {
            s.format = Format::Long;
            draft.time_style = Some(b"full-iso".to_vec());
        }
        'g' => (s.format, s.owner) = (Format::Long, false),
        'o' => (s.format, s.group) = (Format::Long, false),
        'G' => s.group = false,
        'n' => (s.format, s.numeric) = (Format::Long, true),
        '7' => s.dirs_first = true,
        'h' => (s.file_scale, s.block_scale) = (Scale::Human(1024), Scale::Human(1024)),
        '8' => (s.file_scale, s.block_scale) = (Scale::Human(1000), Scale::Human(1000)),
        'k' => s.block_scale = Scale::Blocks(1024, ""),
        'H' => draft.deref = Some(Deref::Operands),
        '9' => draft.deref = Some(Deref::OperandDirs),
        'L' => draft.deref = Some(Deref::Always),
        'i' => s.inode = true,
        'N' => draft.style = Some(Style::Literal),
        'Q' => draft.style = Some(Style::C),
        'q' => draft.hide_control = Some(true),
        '$' => draft.hide_control = Some(false),
        'r' => s.reverse = true,
        'R' => s.recursive = true,
        's' => s.blocks = true,
        'S' => draft.sort = Some(Sort::Size),
        't' => draft.sort = Some(Sort::Time),
        'U' => draft.sort = Some(Sort::None),
        'v' => draft.sort = Some(Sort::Version),
        'X' => draft.sort = Some(Sort::Extension),
        'z' => {
            s.end = 0;
            draft.color = When::Never;
            draft.style = Some(Style::Literal);
            draft.hide_control = Some(false);
            if s.format != Format::Long {
                s.format = Format::Single;
            }
        }
        '1' => {}
        _ => return false,
    }
    true
}

const WHENS: &[(&str, When)] = &[
    ("always", When::Always),
    ("yes", When::Always),
    ("force", When::Always),
    ("never", When::Never),
    ("no", When::Never),
    ("none", When::Never),
    ("auto", When::Auto),
    ("tty", When::Auto),
    ("if-tty", When::Auto),
];

/// Takes an option with an argument; `false` after a message.
fn word(
    cmd: &mut Cmd<'_>,
    draft: &mut Draft,
    id: char,
    value: Option<&[u8]>,
) -> Result<bool, Stop> {
    let text = value.unwrap_or_default();
    let s = &mut draft.settings;
    match id {
        '2' => match parse_block_size(text) {
            Some(scale) => (s.file_scale, s.block_scale) = (scale, scale),
            None => {
                let message = bad_block_size(b"--block-size", text);
                cmd.error(&[&message])?;
                return Ok(false);
            }
        },
        '3' | '!' => {
            let name = if id == '3' { "--color" } else { "--classify" };
            let when = match value {
                None => Some(When::Always),
                Some(value) => argmatch(cmd, name, value, WHENS)?,
            };
            match (when, id) {
                (None, _) => return Ok(false),
                (Some(when), '3') => draft.color = when,
                (Some(When::Always), _) => s.indicator = Indicator::Classify,
                (Some(When::Auto), _) if draft.tty => s.indicator = Indicator::Classify,
                _ => {}
            }
        }
        '5' => {
            let list = [
                ("verbose", Format::Long),
                ("long", Format::Long),
                ("commas", Format::Commas),
                ("horizontal", Format::Across),
                ("across", Format::Across),
                ("vertical", Format::Columns),
                ("single-column", Format::Single),
            ];
            match argmatch(cmd, "--format", text, &list)? {
                Some(format) => s.format = format,
                None => return Ok(false),
            }
        }
        '#' => {
            let list = [
                ("none", Indicator::None),
                ("slash", Indicator::Slash),
                ("file-type", Indicator::FileType),
                ("classify", Indicator::Classify),
            ];
            match argmatch(cmd, "--indicator-style", text, &list)? {
                Some(indicator) => s.indicator = indicator,
                None => return Ok(false),
            }
        }
        '%' => match argmatch(cmd, "--quoting-style", text, STYLES)? {
            Some((_, style)) => draft.style = Some(style),
            None => return Ok(false),
        },
        '^' | '&' => return sort_word(cmd, draft, id, text),
        '*' => draft.time_style = Some(text.to_vec()),
        '@' => s.hide.push(text.to_vec()),
        'I' => s.ignore.push(text.to_vec()),
        'T' | 'w' => {
            // A width that is too large is as good as none.
            let number = match size(text, b"") {
                Err(BadNumber::Overflow) if id == 'w' => Ok(0),
                _ => unsigned(text, 0, u64::MAX),
            };
            let number = number.map(|number| usize::try_from(number).unwrap_or(usize::MAX));
            match (number, id) {
                (Ok(number), 'T') => s.tab = number,
                (Ok(0), _) => (s.width, s.tab) = (usize::MAX, 0),
                (Ok(number), _) => s.width = number,
                (Err(why), _) => {
                    let text = cmd.quote(text);
                    let what: &[u8] = if id == 'T' {
                        b"tab size"
                    } else {
                        b"line width"
                    };
                    cmd.error(&[b"invalid ", what, b": ", &text, why])?;
                    return Ok(false);
                }
            }
        }
        _ => {}
    }
    Ok(true)
}

/// The names of styles; numbered, so that two of one style are two in messages.
const STYLES: &[(&str, (u8, Style))] = &[
    ("literal", (0, Style::Literal)),
    ("shell", (1, Style::Shell)),
    ("shell-always", (2, Style::ShellAlways)),
    ("shell-escape", (3, Style::ShellEscape)),
    ("shell-escape-always", (4, Style::ShellEscapeAlways)),
    ("c", (5, Style::C)),
    ("c-maybe", (6, Style::C)),
    ("escape", (7, Style::Escape)),
    ("locale", (8, Style::Locale)),
    ("clocale", (9, Style::Locale)),
];

fn sort_word(cmd: &mut Cmd<'_>, draft: &mut Draft, id: char, text: &[u8]) -> Result<bool, Stop> {
    if id == '^' {
        let list = [
            ("none", Sort::None),
            ("time", Sort::Time),
            ("size", Sort::Size),
            ("extension", Sort::Extension),
            ("version", Sort::Version),
            ("width", Sort::Width),
        ];
        draft.sort = argmatch(cmd, "--sort", text, &list)?;
        return Ok(draft.sort.is_some());
    }
    let list = [
        ("atime", Time::Access),
        ("access", Time::Access),
        ("use", Time::Access),
        ("ctime", Time::Change),
        ("status", Time::Change),
        ("birth", Time::Birth),
        ("creation", Time::Birth),
    ];
    // Later versions of GNU know these two, and list them.
    if matches!(text, b"mtime" | b"modification") {
        (draft.settings.time, draft.time_given) = (Time::Modify, true);
        return Ok(true);
    }
    match argmatch(cmd, "--time", text, &list)? {
        Some(time) => {
            (draft.settings.time, draft.time_given) = (time, true);
            Ok(true)
        }
        None => Ok(false),
    }
}

fn finish(cmd: &mut Cmd<'_>, draft: Draft) -> Result<Option<Settings>, Stop> {
    let mut s = draft.settings;
    let long = s.format == Format::Long;
    // `-c` and `-u` alone sort by that time; with `-l` they only show it.
    s.sort = draft.sort.unwrap_or(if draft.time_given && !long {
        Sort::Time
    } else {
        Sort::Name
    });
    s.style = draft.style.unwrap_or(if draft.tty {
        Style::ShellEscape
    } else {
        Style::Literal
    });
    s.hide_control = draft
        .hide_control
        .unwrap_or(draft.tty && s.style == Style::Literal);
    s.deref = draft.deref.unwrap_or(
        if s.directory || s.indicator == Indicator::Classify || long {
            Deref::Never
        } else {
            Deref::OperandDirs
        },
    );
    let wants_color = draft.color == When::Always || draft.color == When::Auto && draft.tty;
    if wants_color && knows_colors(cmd) {
        let env = cmd.sys.env(b"LS_COLORS").unwrap_or_default();
        s.colors = Some(Colors::new(&env));
        s.tab = 0;
    }
    if long {
        match time_format(cmd, draft.time_style.as_deref())? {
            Some(format) => s.time_format = format,
            None => return Ok(None),
        }
    }
    Ok(Some(s))
}

/// Tells whether there is reason to think that someone can see colours, as GNU decides it.
fn knows_colors(cmd: &Cmd<'_>) -> bool {
    let given = |name: &[u8]| cmd.sys.env(name).filter(|value| !value.is_empty());
    if given(b"LS_COLORS").is_some() || given(b"COLORTERM").is_some() {
        return true;
    }
    let term = given(b"TERM").unwrap_or_default();
    const KNOWN: &[&[u8]] = &[
        b"Eterm",
        b"ansi",
        b"con",
        b"cygwin",
        b"dtterm",
        b"gnome",
        b"hurd",
        b"jfbterm",
        b"konsole",
        b"kterm",
        b"linux",
        b"mlterm",
        b"putty",
        b"rxvt",
        b"screen",
        b"st",
        b"terminator",
        b"tmux",
        b"vt100",
        b"xterm",
    ];
    KNOWN.iter().any(|known| term.starts_with(known))
        || memchr::memmem::find(&term, b"color").is_some()
}

fn time_format(cmd: &mut Cmd<'_>, style: Option<&[u8]>) -> Result<Option<(String, String)>, Stop> {
    let mut style = style.unwrap_or(b"locale");
    let both = |old: &str, new: &str| Some((old.to_owned(), new.to_owned()));
    if let Some(format) = style.strip_prefix(b"+") {
        let format = String::from_utf8_lossy(format).into_owned();
        return Ok(match format.split_once('\n') {
            Some((old, new)) => both(old, new),
            None => both(&format, &format),
        });
    }
    if style.starts_with(b"posix-") {
        // Our dates are those of the POSIX locale, in which these styles change nothing.
        style = b"locale";
    }
    let list = [("full-iso", 0), ("long-iso", 1), ("iso", 2), ("locale", 3)];
    let Some((_, found)) = list.iter().find(|(name, _)| name.as_bytes() == style) else {
        let what: &[u8] = if style.is_empty() {
            b"ambiguous"
        } else {
            b"invalid"
        };
        let style = cmd.quote(style);
        let name = cmd.quote(b"time style");
        cmd.note(&[what, b" argument ", &style, b" for ", &name])?;
        let text = b"Valid arguments are:\n  - [posix-]full-iso\n  - [posix-]long-iso\n  - [posix-]iso\n  - [posix-]locale\n  - +FORMAT (e.g., +%H:%M) for a 'date'-style format\n";
        jp_bash_system::failed(cmd.sys.write(2, text))?.ok();
        cmd.status = cmd.hint()?;
        return Ok(None);
    };
    Ok(match found {
        0 => both("%Y-%m-%d %H:%M:%S.%N %z", "%Y-%m-%d %H:%M:%S.%N %z"),
        1 => both("%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M"),
        2 => both("%Y-%m-%d ", "%m-%d %H:%M"),
        _ => both("%b %e  %Y", "%b %e %H:%M"),
    })
}
