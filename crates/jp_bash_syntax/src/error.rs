//! What is wrong with a script, in bash's words. Knows no file names: whoever prints adds them.

/// Why a script could not be parsed: messages to print, each with the line it is about.
///
/// `exec` prints each as `bash: -c: line N: MESSAGE` or `FILE: line N: MESSAGE`; the status is [`SyntaxError::status`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// What to print, each with the line it is about.
    pub messages: Vec<(u32, Vec<u8>)>,
    /// What kind of error it is.
    pub kind: SyntaxErrorKind,
    /// It stands in `$( … )`: a text of `bash -c` then ends with 127.
    pub in_substitution: bool,
}

/// How a script failed to parse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyntaxErrorKind {
    /// A token that does not fit.
    Token,
    /// The script ends too early: more text could mend it.
    Incomplete,
    /// `[[ … ]]` is wrong: bash prints this (it may be nothing), reads no further and keeps the status it has.
    Conditional,
    /// `a=( … )` is wrong: like [`SyntaxErrorKind::Token`], but bash's status is 1.
    Array,
    /// Nested too deeply, too long, or too much to read again.
    Limit,
    /// More parts than memory allows.
    Memory,
}

impl SyntaxError {
    /// Makes an error of one message.
    pub fn new(kind: SyntaxErrorKind, line: u32, message: impl Into<Vec<u8>>) -> Self {
        Self {
            messages: vec![(line, message.into())],
            kind,
            in_substitution: false,
        }
    }

    /// Returns the status of a script that ends with this error; nothing where it keeps the one it has.
    pub fn status(&self) -> Option<i32> {
        match self.kind {
            SyntaxErrorKind::Token
            | SyntaxErrorKind::Incomplete
            | SyntaxErrorKind::Limit
            | SyntaxErrorKind::Memory => Some(2),
            SyntaxErrorKind::Array => Some(1),
            SyntaxErrorKind::Conditional => None,
        }
    }

    /// Returns the line of the first message.
    pub fn line(&self) -> u32 {
        self.messages.first().map_or(0, |first| first.0)
    }
}

/// Why a text is no arithmetic expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArithError {
    /// `syntax error: operand expected` and so on.
    pub message: &'static str,
    /// What bash calls the error token: the rest of the text from there.
    pub token: Vec<u8>,
}
