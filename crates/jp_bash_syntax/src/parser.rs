//! The way into the parser: a script, one complete command line at a time.

use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use memchr::memchr;

use crate::ast::List;
use crate::error::{SyntaxError, SyntaxErrorKind};
use crate::names::Names;
use crate::reader::Reader;

/// What a part of the tree costs, in bytes, with what hangs on it.
pub const NODE: u64 = 448;

/// Looks up an alias: its text, or nothing if there is none or aliases are off.
pub type Aliases<'a> = dyn Fn(&[u8]) -> Option<Arc<[u8]>> + 'a;

/// Answers whether there is time to read on; asked for every [`PARTS`] parts of a text.
pub trait Patience {
    /// Answers that question.
    fn goes_on(&self) -> bool;
}

/// How many parts of a text are read between two questions.
pub const PARTS: u32 = 1024;

/// The one that is asked, if reading may take long.
#[derive(Clone, Default)]
pub struct Asked(pub Option<Rc<dyn Patience>>);

impl Asked {
    /// Tells whether reading must end, at a part with this number.
    #[inline]
    pub(super) fn stops(&self, part: u32) -> bool {
        part.is_multiple_of(PARTS) && self.0.as_ref().is_some_and(|asked| !asked.goes_on())
    }
}

impl fmt::Debug for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Asked").field(&self.0.is_some()).finish()
    }
}

/// What changes how a script is read. May be changed between two lines.
#[derive(Debug, Clone)]
pub struct ParseOptions {
    /// `shopt -s extglob`
    pub extglob: bool,
    /// `set -B`: braces expand.
    pub braces: bool,
    /// `set -o posix`
    pub posix: bool,
    /// Nested constructs at most.
    pub max_depth: u16,
    /// Bytes of stack at most. In optimised builds `max_depth` comes first; unoptimised frames are several times larger.
    pub max_stack: usize,
    /// Bytes of script at most.
    pub max_bytes: usize,
    /// Commands, words and parameters of one command line at most: each takes some hundred bytes.
    pub max_nodes: u32,
    /// Number of the first line.
    pub first_line: u32,
    /// Where the script was read, for the functions in it (`BASH_SOURCE`).
    pub source: Arc<[u8]>,
    /// The one that is asked whether to read on.
    pub asked: Asked,
}

impl Default for ParseOptions {
    fn default() -> Self {
        Self {
            extglob: false,
            braces: true,
            posix: false,
            max_depth: 500,
            max_stack: 1 << 20,
            max_bytes: 16 << 20,
            max_nodes: 1_000_000,
            first_line: 1,
            source: Arc::from(&b""[..]),
            asked: Asked::default(),
        }
    }
}

/// Reads a script line by line, so that what a line sets (aliases, `extglob`) counts for the next.
#[derive(Debug)]
pub struct Parser {
    source: Arc<[u8]>,
    options: ParseOptions,
    /// Where the next line starts, and its number.
    pos: usize,
    line: u32,
    done: bool,
    warnings: Vec<(u32, Vec<u8>)>,
    nodes: u32,
}

impl Parser {
    /// Makes a parser of a script. NUL bytes are dropped, as bash does.
    pub fn new(source: &[u8], options: ParseOptions) -> Self {
        let keep = |byte: &u8| *byte != 0;
        // A last line counts as a whole one, which decides what the errors at its end say. After a
        // backslash it would be more than that.
        let open_line = !matches!(source.last(), None | Some(b'\n' | b'\\'));
        let end = open_line.then_some(b'\n');
        let source = if memchr(0, source).is_some() {
            source.iter().copied().filter(keep).chain(end).collect()
        } else if open_line {
            [source, b"\n"].concat().into()
        } else {
            source.into()
        };
        Self {
            source,
            pos: 0,
            line: options.first_line,
            options,
            done: false,
            warnings: Vec::new(),
            nodes: 0,
        }
    }

    /// Returns the next complete command line, or nothing at the end. After an error there is nothing more.
    pub fn next(
        &mut self,
        names: &mut Names,
        aliases: &Aliases<'_>,
    ) -> Result<Option<List>, SyntaxError> {
        if self.done {
            return Ok(None);
        }
        if self.source.len() > self.options.max_bytes {
            self.done = true;
            let message = "script is too long";
            return Err(SyntaxError::new(SyntaxErrorKind::Limit, self.line, message));
        }
        let mut reader = Reader::new(Arc::clone(&self.source), names, aliases, &self.options);
        reader.start_at(self.pos, self.line);
        let result = reader.command_line();
        self.nodes = reader.nodes;
        self.warnings.append(&mut reader.warnings);
        self.line = reader.line();
        self.pos = reader.outermost();
        self.source = Arc::clone(reader.outermost_text());
        match result {
            Ok(Some(list)) => Ok(Some(list)),
            Ok(None) => {
                self.done = true;
                Ok(None)
            }
            Err(error) => {
                self.done = true;
                Err(*error)
            }
        }
    }

    /// Returns how many parts the tree of the last line has.
    pub fn nodes(&self) -> u32 {
        self.nodes
    }

    /// Gives access to the options, to change them between two lines.
    pub fn options_mut(&mut self) -> &mut ParseOptions {
        &mut self.options
    }

    /// Returns what was read of the script so far, in bytes (`source` echoes it for `set -v`).
    pub fn position(&self) -> usize {
        self.pos
    }

    /// Takes the warnings of the lines read so far, to print as `bash: line N: MESSAGE` before the line runs.
    pub fn take_warnings(&mut self) -> Vec<(u32, Vec<u8>)> {
        std::mem::take(&mut self.warnings)
    }
}
