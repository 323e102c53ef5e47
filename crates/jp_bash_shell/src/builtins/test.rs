//! `test` and `[`: by the number of arguments as POSIX says, then the old grammar with `-a` and `-o`.

use jp_bash_syntax::ast::TestOp;

use super::args::operand;
use crate::Shell;
use crate::flow::Flow;
use crate::test_expr::compare;

/// An expression that is wrong; the message is for standard error.
enum Fail {
    Message(Vec<u8>),
    Flow(Flow),
}

impl From<Flow> for Fail {
    fn from(flow: Flow) -> Self {
        Self::Flow(flow)
    }
}

type Answer = Result<bool, Fail>;

fn fail(parts: &[&[u8]]) -> Fail {
    Fail::Message(parts.concat())
}

/// `test` and `[`.
pub(super) fn run(shell: &mut Shell<'_>, args: &[Vec<u8>]) -> Result<i32, Flow> {
    let name = operand(args, 0).to_vec();
    let mut words = args.get(1..).unwrap_or_default();
    if name == b"[" {
        match words.split_last() {
            Some((last, rest)) if last == b"]" => words = rest,
            _ => {
                shell.complain_as(&name, b"missing `]'")?;
                return Ok(2);
            }
        }
    }
    let answer = match words {
        [] => Ok(false),
        [one] => Ok(!one.is_empty()),
        [one, two] => two_words(shell, one, two),
        [one, two, three] => three_words(shell, one, two, three),
        [one, rest @ ..] if rest.len() == 3 && one == b"!" => match rest {
            [a, b, c] => three_words(shell, a, b, c).map(|yes| !yes),
            _ => Ok(false),
        },
        [open, a, b, close] if open == b"(" && close == b")" => two_words(shell, a, b),
        words => {
            let mut grammar = Grammar {
                words,
                at: 0,
                depth: 0,
            };
            grammar.whole(shell)
        }
    };
    match answer {
        Ok(true) => Ok(0),
        Ok(false) => Ok(1),
        Err(Fail::Flow(flow)) => Err(flow),
        Err(Fail::Message(message)) => {
            shell.complain_as(&name, &message)?;
            Ok(2)
        }
    }
}

fn unary_letter(word: &[u8]) -> Option<u8> {
    match word {
        [b'-', letter] if b"abcdefghknoprstuvwxzGLNORS".contains(letter) => Some(*letter),
        _ => None,
    }
}

fn is_binary(word: &[u8]) -> bool {
    matches!(
        word,
        b"=" | b"=="
            | b"!="
            | b"<"
            | b">"
            | b"-eq"
            | b"-ne"
            | b"-lt"
            | b"-le"
            | b"-gt"
            | b"-ge"
            | b"-nt"
            | b"-ot"
            | b"-ef"
    )
}

fn two_words(shell: &mut Shell<'_>, one: &[u8], two: &[u8]) -> Answer {
    if one == b"!" {
        return Ok(two.is_empty());
    }
    match unary_letter(one) {
        Some(letter) => unary(shell, letter, two),
        None => Err(fail(&[one, b": unary operator expected"])),
    }
}

fn three_words(shell: &mut Shell<'_>, one: &[u8], two: &[u8], three: &[u8]) -> Answer {
    if is_binary(two) {
        return binary(shell, one, two, three);
    }
    match two {
        b"-a" => return Ok(!one.is_empty() && !three.is_empty()),
        b"-o" => return Ok(!one.is_empty() || !three.is_empty()),
        _ => {}
    }
    if one == b"!" {
        return two_words(shell, two, three).map(|yes| !yes);
    }
    if one == b"(" && three == b")" {
        return Ok(!two.is_empty());
    }
    Err(fail(&[two, b": binary operator expected"]))
}

fn unary(shell: &mut Shell<'_>, letter: u8, word: &[u8]) -> Answer {
    if letter == b't' && !word.iter().all(u8::is_ascii_digit) {
        return Ok(false);
    }
    Ok(shell.test_unary(letter, word)?)
}

/// Reads an integer with blanks around it, as `test` takes them.
fn integer(text: &[u8]) -> Result<i64, Fail> {
    let bad = || fail(&[text, b": integer expression expected"]);
    let trimmed = text.trim_ascii();
    let digits = trimmed.strip_prefix(b"+").unwrap_or(trimmed);
    if digits.starts_with(b"+") {
        return Err(bad());
    }
    std::str::from_utf8(digits)
        .ok()
        .and_then(|digits| digits.parse().ok())
        .ok_or_else(bad)
}

fn binary(shell: &mut Shell<'_>, left: &[u8], op: &[u8], right: &[u8]) -> Answer {
    let op = match op {
        b"=" | b"==" => return Ok(left == right),
        b"!=" => return Ok(left != right),
        b"<" => return Ok(left < right),
        b">" => return Ok(left > right),
        b"-nt" => return Ok(shell.test_files(TestOp::NewerThan, left, right)?),
        b"-ot" => return Ok(shell.test_files(TestOp::OlderThan, left, right)?),
        b"-ef" => return Ok(shell.test_files(TestOp::SameFile, left, right)?),
        b"-eq" => TestOp::Eq,
        b"-ne" => TestOp::Ne,
        b"-lt" => TestOp::Lt,
        b"-le" => TestOp::Le,
        b"-gt" => TestOp::Gt,
        _ => TestOp::Ge,
    };
    Ok(compare(op, integer(left)?, integer(right)?))
}

/// Nested parentheses and `!` at most.
const MAX_DEPTH: u32 = 200;

/// The grammar for five and more words.
struct Grammar<'a> {
    words: &'a [Vec<u8>],
    at: usize,
    depth: u32,
}

impl Grammar<'_> {
    fn word(&self, ahead: usize) -> Option<&[u8]> {
        self.words.get(self.at + ahead).map(Vec::as_slice)
    }

    fn whole(&mut self, shell: &mut Shell<'_>) -> Answer {
        let answer = self.or(shell)?;
        if self.at < self.words.len() {
            return Err(fail(&[b"too many arguments"]));
        }
        Ok(answer)
    }

    fn or(&mut self, shell: &mut Shell<'_>) -> Answer {
        let mut answer = self.and(shell)?;
        while self.word(0) == Some(b"-o") {
            self.at += 1;
            let right = self.and(shell)?;
            answer = answer || right;
        }
        Ok(answer)
    }

    fn and(&mut self, shell: &mut Shell<'_>) -> Answer {
        let mut answer = self.term(shell)?;
        while self.word(0) == Some(b"-a") {
            self.at += 1;
            let right = self.term(shell)?;
            answer = answer && right;
        }
        Ok(answer)
    }

    fn term(&mut self, shell: &mut Shell<'_>) -> Answer {
        let Some(word) = self.word(0) else {
            return Err(fail(&[b"argument expected"]));
        };
        let mut negated = false;
        if word == b"!" {
            while self.word(0) == Some(b"!") {
                negated = !negated;
                self.at += 1;
            }
            return Ok(self.term_after(shell)? != negated);
        }
        self.term_after(shell)
    }

    fn term_after(&mut self, shell: &mut Shell<'_>) -> Answer {
        let Some(word) = self.word(0).map(<[u8]>::to_vec) else {
            return Err(fail(&[b"argument expected"]));
        };
        if word == b"(" {
            self.depth += 1;
            if self.depth > MAX_DEPTH {
                return Err(fail(&[b"too many arguments"]));
            }
            self.at += 1;
            let answer = self.or(shell)?;
            self.depth -= 1;
            match self.word(0) {
                Some(b")") => {
                    self.at += 1;
                    return Ok(answer);
                }
                Some(other) => {
                    return Err(fail(&[b"`)' expected, found ", other]));
                }
                None => return Err(fail(&[b"`)' expected"])),
            }
        }
        if let (Some(op), Some(right)) = (self.word(1), self.word(2))
            && is_binary(op)
        {
            let (op, right) = (op.to_vec(), right.to_vec());
            self.at += 3;
            return binary(shell, &word, &op, &right);
        }
        if let (Some(letter), Some(arg)) = (unary_letter(&word), self.word(1)) {
            let arg = arg.to_vec();
            self.at += 2;
            return unary(shell, letter, &arg);
        }
        self.at += 1;
        Ok(!word.is_empty())
    }
}
