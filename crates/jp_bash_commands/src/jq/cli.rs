//! The command line of jq: its options are read by its own rules, not by `getopt`.

use super::input::Mode;
use super::json;
use super::text::Text;
use super::value::Value;
use crate::options::{Opt, Takes, opt, refused};

/// Every option, for the documentation.
pub(super) const OPTIONS: &[Opt] = &[
    opt('n', Some(b'n'), Some("null-input"), Takes::Nothing),
    opt('R', Some(b'R'), Some("raw-input"), Takes::Nothing),
    opt('s', Some(b's'), Some("slurp"), Takes::Nothing),
    opt('c', Some(b'c'), Some("compact-output"), Takes::Nothing),
    opt('r', Some(b'r'), Some("raw-output"), Takes::Nothing),
    opt('0', None, Some("raw-output0"), Takes::Nothing),
    opt('j', Some(b'j'), Some("join-output"), Takes::Nothing),
    opt('a', Some(b'a'), Some("ascii-output"), Takes::Nothing),
    opt('S', Some(b'S'), Some("sort-keys"), Takes::Nothing),
    opt('C', Some(b'C'), Some("color-output"), Takes::Nothing),
    opt('M', Some(b'M'), Some("monochrome-output"), Takes::Nothing),
    opt('t', None, Some("tab"), Takes::Nothing),
    opt('i', None, Some("indent"), Takes::Required),
    opt('u', None, Some("unbuffered"), Takes::Nothing),
    opt('m', None, Some("stream"), Takes::Nothing),
    opt('E', None, Some("stream-errors"), Takes::Nothing),
    opt('q', None, Some("seq"), Takes::Nothing),
    opt('f', Some(b'f'), Some("from-file"), Takes::Required),
    opt('L', Some(b'L'), Some("library-path"), Takes::Required),
    opt('e', Some(b'e'), Some("exit-status"), Takes::Nothing),
    opt('A', None, Some("arg"), Takes::Required),
    opt('J', None, Some("argjson"), Takes::Required),
    opt('F', None, Some("slurpfile"), Takes::Required),
    opt('W', None, Some("rawfile"), Takes::Required),
    opt('P', None, Some("args"), Takes::Nothing),
    opt('Q', None, Some("jsonargs"), Takes::Nothing),
    opt('h', Some(b'h'), Some("help"), Takes::Nothing),
    opt('V', Some(b'V'), Some("version"), Takes::Nothing),
    opt('b', Some(b'b'), Some("binary"), Takes::Nothing),
    opt('B', None, Some("build-configuration"), Takes::Nothing),
    refused(
        None,
        Some("debug-dump-disasm"),
        Takes::Nothing,
        "there is no bytecode of jq's to show",
    ),
    refused(
        None,
        Some("debug-trace"),
        Takes::Nothing,
        "there is no bytecode of jq's to show",
    ),
];

/// Where a variable of the command line gets its value.
pub(super) enum Given {
    Value(Value),
    /// A file of JSON texts.
    Slurp(Vec<u8>),
    /// A file as one string.
    Raw(Vec<u8>),
}

/// What the command line says.
#[derive(Default)]
pub(super) struct Options {
    pub(super) mode: Mode,
    pub(super) null_input: bool,
    pub(super) raw_output: bool,
    /// `-j`: no newline; `--raw-output0`: NUL instead.
    pub(super) terminator: Terminator,
    pub(super) ascii: bool,
    pub(super) sort: bool,
    pub(super) color: bool,
    pub(super) unbuffered: bool,
    pub(super) exit_status: bool,
    pub(super) indent: Indent,
    pub(super) from_file: Option<Vec<u8>>,
    pub(super) library: Vec<Vec<u8>>,
    pub(super) named: Vec<(Text, Given)>,
    pub(super) positional: Vec<Value>,
    pub(super) filter: Option<Vec<u8>>,
    pub(super) files: Vec<Vec<u8>>,
    pub(super) show: Option<Show>,
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Terminator {
    #[default]
    Newline,
    Nothing,
    Nul,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Indent {
    None,
    Spaces(usize),
    Tab,
}

impl Default for Indent {
    fn default() -> Self {
        Self::Spaces(2)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Show {
    Help,
    Version,
    Build,
}

/// What operands are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rest {
    Files,
    Args,
    JsonArgs,
}

/// What is wrong with the arguments, in jq's words.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Misuse {
    /// There is no such option.
    #[error("Unknown option {0}")]
    Unknown(String),
    /// An option of jq that is not done here.
    #[error("option --{name} is not supported: {why}")]
    Refused { name: String, why: &'static str },
    /// An option lacks its value, or has a wrong one.
    #[error("{0} takes {1}")]
    Takes(&'static str, &'static str),
    /// An option lacks its name or its value.
    #[error("--{name} takes two parameters (e.g. --{name} varname {example})")]
    TakesTwo { name: String, example: &'static str },
    /// A value of this option is not JSON.
    #[error("invalid JSON text passed to {0}")]
    InvalidJson(&'static str),
}

/// Reads the arguments behind the name.
pub(super) fn read(args: &[Vec<u8>]) -> Result<Options, Misuse> {
    let mut reader = Reader {
        options: Options::default(),
        rest: Rest::Files,
    };
    let mut words = args.iter().skip(1);
    let mut only_operands = false;
    while let Some(word) = words.next() {
        let second = word.get(1).copied().unwrap_or(0);
        // `-1` and `-(1)` are programs.
        let option =
            word.first() == Some(&b'-') && (second == b'-' || second.is_ascii_alphabetic());
        if only_operands || !option {
            reader.operand(word)?;
        } else if word == b"--" {
            only_operands = true;
        } else if let Some(long) = word.strip_prefix(b"--") {
            reader.long(long, &mut words)?;
        } else {
            reader.short(word.get(1..).unwrap_or_default(), &mut words)?;
        }
    }
    let mut options = reader.options;
    // With `-f` the first operand is a file, not a program.
    if options.from_file.is_some()
        && let Some(first) = options.filter.take()
    {
        options.files.insert(0, first);
    }
    Ok(options)
}

struct Reader {
    options: Options,
    rest: Rest,
}

type Words<'a> = std::iter::Skip<std::slice::Iter<'a, Vec<u8>>>;

impl Reader {
    fn operand(&mut self, word: &[u8]) -> Result<(), Misuse> {
        if self.options.filter.is_none() {
            self.options.filter = Some(word.to_vec());
            return Ok(());
        }
        match self.rest {
            Rest::Files => self.options.files.push(word.to_vec()),
            Rest::Args => self
                .options
                .positional
                .push(Value::String(json::lossy(word))),
            Rest::JsonArgs => {
                let value = json::parse_one(word).map_err(|_| Misuse::InvalidJson("--jsonargs"))?;
                self.options.positional.push(value);
            }
        }
        Ok(())
    }

    fn short(&mut self, letters: &[u8], words: &mut Words<'_>) -> Result<(), Misuse> {
        for (at, letter) in letters.iter().enumerate() {
            match letter {
                b'L' => {
                    let attached = letters.get(at + 1..).unwrap_or_default();
                    let path = if attached.is_empty() {
                        words.next().cloned().ok_or(Misuse::Takes(
                            "-L",
                            "a parameter: (e.g. -L /search/path or -L/search/path)",
                        ))?
                    } else {
                        attached.to_vec()
                    };
                    self.options.library.push(path);
                    return Ok(());
                }
                b'f' => {
                    let path = words
                        .next()
                        .cloned()
                        .ok_or(Misuse::Takes("-f", "a parameter (e.g. -f file)"))?;
                    self.options.from_file = Some(path);
                }
                _ => {
                    let known = OPTIONS.iter().find(|opt| opt.short == Some(*letter));
                    let Some(known) = known else {
                        let word = String::from_utf8_lossy(letters).into_owned();
                        return Err(Misuse::Unknown(format!("-{word}")));
                    };
                    self.flag(known.id);
                }
            }
        }
        Ok(())
    }

    fn long(&mut self, long: &[u8], words: &mut Words<'_>) -> Result<(), Misuse> {
        let name = String::from_utf8_lossy(long).into_owned();
        let known = OPTIONS.iter().find(|opt| opt.long == Some(name.as_str()));
        let Some(known) = known else {
            return Err(Misuse::Unknown(format!("--{name}")));
        };
        if let crate::options::Support::Refused(why) = known.support {
            return Err(Misuse::Refused { name, why });
        }
        match name.as_str() {
            "indent" => {
                let number = words
                    .next()
                    .ok_or(Misuse::Takes("--indent", "one parameter"))?;
                let number = std::str::from_utf8(number)
                    .ok()
                    .and_then(|n| n.parse::<i64>().ok());
                self.options.indent = match number {
                    Some(-1) => Indent::Tab,
                    Some(0) => Indent::None,
                    Some(n @ 1..=7) => Indent::Spaces(usize::try_from(n).unwrap_or(2)),
                    _ => return Err(Misuse::Takes("--indent", "a number between -1 and 7")),
                };
            }
            "from-file" => {
                self.options.from_file = Some(
                    words
                        .next()
                        .cloned()
                        .ok_or(Misuse::Takes("--from-file", "a parameter"))?,
                );
            }
            "library-path" => {
                self.options.library.push(
                    words
                        .next()
                        .cloned()
                        .ok_or(Misuse::Takes("--library-path", "a parameter"))?,
                );
            }
            "arg" | "argjson" | "slurpfile" | "rawfile" => {
                let example = if name == "slurpfile" || name == "rawfile" {
                    "filename"
                } else {
                    "value"
                };
                let (Some(variable), Some(value)) = (words.next(), words.next()) else {
                    return Err(Misuse::TakesTwo { name, example });
                };
                let given = match name.as_str() {
                    "arg" => Given::Value(Value::String(json::lossy(value))),
                    "argjson" => Given::Value(
                        json::parse_one(value).map_err(|_| Misuse::InvalidJson("--argjson"))?,
                    ),
                    "slurpfile" => Given::Slurp(value.clone()),
                    _ => Given::Raw(value.clone()),
                };
                let variable = json::lossy(variable);
                // The first of equal names counts.
                if !self
                    .options
                    .named
                    .iter()
                    .any(|(known, _)| *known == variable)
                {
                    self.options.named.push((variable, given));
                }
            }
            _ => self.flag(known.id),
        }
        Ok(())
    }

    fn flag(&mut self, id: char) {
        let options = &mut self.options;
        match id {
            'n' => options.null_input = true,
            'R' => options.mode.raw = true,
            's' => options.mode.slurp = true,
            'c' => options.indent = Indent::None,
            'r' => options.raw_output = true,
            '0' => {
                options.raw_output = true;
                options.terminator = Terminator::Nul;
            }
            'j' => {
                options.raw_output = true;
                options.terminator = Terminator::Nothing;
            }
            'a' => options.ascii = true,
            'S' => options.sort = true,
            'C' => options.color = true,
            'M' => options.color = false,
            't' => options.indent = Indent::Tab,
            'u' => options.unbuffered = true,
            'm' => options.mode.stream = true,
            'E' => options.mode.stream_errors = true,
            'q' => options.mode.seq = true,
            'e' => options.exit_status = true,
            'P' => self.rest = Rest::Args,
            'Q' => self.rest = Rest::JsonArgs,
            'h' => options.show = options.show.or(Some(Show::Help)),
            'V' => options.show = options.show.or(Some(Show::Version)),
            'B' => options.show = options.show.or(Some(Show::Build)),
            _ => {}
        }
    }
}

pub(super) const HELP: &str = "\
Usage:\tjq [OPTIONS] FILTER [FILES...]
\tjq [OPTIONS] --args FILTER [STRINGS...]
\tjq [OPTIONS] --jsonargs FILTER [JSON_TEXTS...]

jq filters JSON: it applies FILTER to each input and prints the results.
The simplest filter is ., which prints its input.

  -n, --null-input          use null as the single input;
  -R, --raw-input           read each line as a string;
  -s, --slurp               read all inputs into one array;
  -c, --compact-output      print each result on one line;
  -r, --raw-output          print strings without quotes;
      --raw-output0         as -r, with NUL after each result;
  -j, --join-output         as -r, without newlines;
  -a, --ascii-output        print only ASCII;
  -S, --sort-keys           sort the keys of objects;
  -C, --color-output        print in colour;
  -M, --monochrome-output   print without colour;
      --tab                 indent with tabs;
      --indent N            indent with N spaces (at most 7);
      --unbuffered          write out after each result;
      --stream              read events instead of values;
      --stream-errors       as --stream, with parse errors as events;
      --seq                 use the record separators of RFC 7464;
  -f, --from-file FILE      read the filter from FILE;
  -L DIRECTORY              look for modules in DIRECTORY;
  -e, --exit-status         make the status say what the last result was;
      --arg NAME VALUE      set $NAME to a string;
      --argjson NAME VALUE  set $NAME to a JSON value;
      --slurpfile NAME FILE set $NAME to an array of the JSON texts in FILE;
      --rawfile NAME FILE   set $NAME to the text of FILE;
      --args                take the remaining arguments as strings;
      --jsonargs            take the remaining arguments as JSON texts;
  -h, --help                show this help;
  -V, --version             show the version;
  --                        end of the options.

Named arguments are also in $ARGS.named, the others in $ARGS.positional.
";
