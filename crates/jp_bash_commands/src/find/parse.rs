//! The arguments of `find`, read into an expression.

mod predicate;

use jp_bash_system::{Fd, Follow, Stop, Timestamp, failed};

use super::expr::{Expr, Subject};
use crate::file::Cmd;
use predicate::number;

/// Nested parentheses and negations: more is no honest command line.
const MAX_DEPTH: usize = 200;

/// What `find` is to do.
pub(super) struct Plan {
    pub(super) expr: Expr,
    pub(super) max_depth: usize,
    pub(super) min_depth: usize,
    pub(super) depth_first: bool,
    pub(super) one_device: bool,
    pub(super) follow: bool,
    /// Open files of `-fprint` and the like; the first is standard output.
    pub(super) sinks: Vec<Fd>,
    /// How many lists of `-exec … +` there are.
    pub(super) batches: usize,
    pub(super) files_from: Option<Vec<u8>>,
}

/// Why the arguments are no expression: `Err` carries the message, or a stop.
pub(super) enum Bad {
    Text(Vec<u8>),
    /// `--help` and `--version` end everything well.
    Done,
    Stop(Stop),
}

impl From<Stop> for Bad {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

pub(super) struct Parser<'a, 's> {
    pub(super) cmd: &'a mut Cmd<'s>,
    args: &'a [Vec<u8>],
    at: usize,
    plan: Plan,
    has_action: bool,
    now: Timestamp,
    syntax: Syntax,
    sink_names: Vec<Vec<u8>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Syntax {
    Emacs,
    Basic,
    Extended,
}

const SYNTAXES: &[(&str, Syntax)] = &[
    ("findutils-default", Syntax::Emacs),
    ("ed", Syntax::Basic),
    ("emacs", Syntax::Emacs),
    ("gnu-awk", Syntax::Extended),
    ("grep", Syntax::Basic),
    ("posix-awk", Syntax::Extended),
    ("awk", Syntax::Extended),
    ("posix-basic", Syntax::Basic),
    ("posix-egrep", Syntax::Extended),
    ("egrep", Syntax::Extended),
    ("posix-extended", Syntax::Extended),
    ("posix-minimal-basic", Syntax::Basic),
    ("sed", Syntax::Basic),
];

type Parsed<T> = Result<T, Bad>;

fn bad<T>(parts: &[&[u8]]) -> Parsed<T> {
    Err(Bad::Text(parts.concat()))
}

impl<'a, 's> Parser<'a, 's> {
    pub(super) fn new(cmd: &'a mut Cmd<'s>, args: &'a [Vec<u8>]) -> Self {
        let now = cmd.sys.now();
        Self {
            cmd,
            args,
            at: 0,
            plan: Plan {
                expr: Expr::Constant(true),
                max_depth: usize::MAX,
                min_depth: 0,
                depth_first: false,
                one_device: false,
                follow: false,
                sinks: vec![1],
                batches: 0,
                files_from: None,
            },
            has_action: false,
            now,
            syntax: Syntax::Emacs,
            sink_names: vec![b"/dev/stdout".to_vec()],
        }
    }

    /// Reads the whole expression.
    pub(super) fn plan(mut self) -> Parsed<Plan> {
        if !self.args.is_empty() {
            self.plan.expr = self.list(0)?;
            if let Some(word) = self.peek() {
                let word = word.to_vec();
                return if word == b")" {
                    bad(&[b"invalid expression; you have too many ')'"])
                } else {
                    self.stray(&word)
                };
            }
        }
        if !self.has_action {
            let print = Expr::Print {
                sink: 0,
                end: b'\n',
            };
            let expr = std::mem::replace(&mut self.plan.expr, Expr::Constant(true));
            self.plan.expr = Expr::And(vec![expr, print]);
        }
        Ok(self.plan)
    }

    fn stray<T>(&mut self, word: &[u8]) -> Parsed<T> {
        let before = self.at.checked_sub(1).and_then(|at| self.args.get(at));
        let mut text = [b"paths must precede expression: `", word, b"'"].concat();
        // A name that exists looks as if the shell had expanded a pattern.
        let exists = failed(self.cmd.sys.stat(word, Follow::No))?.is_ok();
        if let Some(before) = before.filter(|_| exists)
            && before.starts_with(b"-")
        {
            text.push(b'\n');
            text.extend_from_slice(&self.cmd.name);
            text.extend_from_slice(b": possible unquoted pattern after predicate `");
            text.extend_from_slice(before);
            text.extend_from_slice(b"'?");
        }
        Err(Bad::Text(text))
    }

    fn peek(&self) -> Option<&'a [u8]> {
        self.args.get(self.at).map(Vec::as_slice)
    }

    fn list(&mut self, depth: usize) -> Parsed<Expr> {
        let mut parts = vec![self.or(depth)?];
        while self.peek() == Some(b",") {
            self.at += 1;
            self.expect_more(b",")?;
            parts.push(self.or(depth)?);
        }
        Ok(one_or(parts, Expr::List))
    }

    fn or(&mut self, depth: usize) -> Parsed<Expr> {
        let mut parts = vec![self.and(depth)?];
        while let Some(word @ (b"-o" | b"-or")) = self.peek() {
            self.at += 1;
            self.expect_more(word)?;
            parts.push(self.and(depth)?);
        }
        Ok(one_or(parts, Expr::Or))
    }

    fn and(&mut self, depth: usize) -> Parsed<Expr> {
        let mut parts = vec![self.unary(depth)?];
        loop {
            match self.peek() {
                None | Some(b"-o" | b"-or" | b"," | b")") => break,
                Some(word @ (b"-a" | b"-and")) => {
                    self.at += 1;
                    self.expect_more(word)?;
                    parts.push(self.unary(depth)?);
                }
                Some(_) => parts.push(self.unary(depth)?),
            }
        }
        Ok(one_or(parts, Expr::And))
    }

    fn expect_more(&self, operator: &[u8]) -> Parsed<()> {
        match self.peek() {
            None | Some(b")") => bad(&[b"expected an expression after '", operator, b"'"]),
            Some(_) => Ok(()),
        }
    }

    fn unary(&mut self, depth: usize) -> Parsed<Expr> {
        if depth > MAX_DEPTH {
            return bad(&[b"expression is nested too deeply"]);
        }
        let Some(word) = self.peek() else {
            return bad(&[b"expected an expression"]);
        };
        match word {
            b"(" => {
                self.at += 1;
                if self.peek() == Some(b")") {
                    return bad(&[b"invalid expression; empty parentheses are not allowed."]);
                }
                if self.peek().is_none() {
                    return bad(&[UNCLOSED]);
                }
                let inner = self.list(depth + 1)?;
                if self.peek() != Some(b")") {
                    return bad(&[UNCLOSED]);
                }
                self.at += 1;
                Ok(inner)
            }
            b")" => bad(&[b"invalid expression; you have too many ')'"]),
            b"!" | b"-not" => {
                self.at += 1;
                self.expect_more(word)?;
                Ok(Expr::Not(Box::new(self.unary(depth + 1)?)))
            }
            b"-o" | b"-or" | b"-a" | b"-and" | b"," => bad(&[
                b"invalid expression; you have used a binary operator '",
                word,
                b"' with nothing before it.",
            ]),
            _ if !word.starts_with(b"-") => self.stray(word),
            _ => {
                self.at += 1;
                self.predicate(word)
            }
        }
    }

    fn argument(&mut self, name: &[u8]) -> Parsed<&'a [u8]> {
        match self.peek() {
            Some(value) => {
                self.at += 1;
                Ok(value)
            }
            None => bad(&[b"missing argument to `", name, b"'"]),
        }
    }

    fn predicate(&mut self, name: &'a [u8]) -> Parsed<Expr> {
        if let Some(expr) = self.option(name)? {
            return Ok(expr);
        }
        if let Some(expr) = self.test(name)? {
            return Ok(expr);
        }
        if let Some(expr) = self.time_test(name)? {
            return Ok(expr);
        }
        if let Some(expr) = self.action(name)? {
            return Ok(expr);
        }
        bad(&[b"unknown predicate `", name, b"'"])
    }

    fn option(&mut self, name: &[u8]) -> Parsed<Option<Expr>> {
        match name {
            b"-depth" | b"-d" => self.plan.depth_first = true,
            b"-maxdepth" | b"-mindepth" => {
                let value = self.argument(name)?;
                let Some(number) = number(value) else {
                    let shown = self.cmd.quote(value);
                    return bad(&[
                        b"Expected a positive decimal integer argument to ",
                        name,
                        b", but got ",
                        &shown,
                    ]);
                };
                match name {
                    b"-maxdepth" => self.plan.max_depth = number,
                    _ => self.plan.min_depth = number,
                }
            }
            b"-mount" | b"-xdev" => self.plan.one_device = true,
            b"-follow" => self.plan.follow = true,
            b"-daystart" => self.daystart(),
            b"-noleaf"
            | b"-warn"
            | b"-nowarn"
            | b"-ignore_readdir_race"
            | b"-noignore_readdir_race" => {}
            b"-regextype" => {
                let value = self.argument(name)?;
                match SYNTAXES.iter().find(|(known, _)| known.as_bytes() == value) {
                    Some((_, syntax)) => self.syntax = *syntax,
                    None => return self.bad_syntax(value),
                }
            }
            b"-files0-from" => self.plan.files_from = Some(self.argument(name)?.to_vec()),
            b"-help" | b"--help" | b"-version" | b"--version" => {
                let text: &[u8] = if name.ends_with(b"version") {
                    b"find (jp, like GNU findutils) 4.9\n"
                } else {
                    super::HELP
                };
                self.cmd.put(text)?;
                return Err(Bad::Done);
            }
            _ => return Ok(None),
        }
        Ok(Some(Expr::Constant(true)))
    }

    fn bad_syntax<T>(&mut self, value: &[u8]) -> Parsed<T> {
        let names: Vec<Vec<u8>> = SYNTAXES
            .iter()
            .map(|(name, _)| self.cmd.quote(name.as_bytes()))
            .collect();
        let shown = self.cmd.quote(value);
        bad(&[
            b"Unknown regular expression type ",
            &shown,
            b"; valid types are ",
            &names.join(&b", "[..]),
            b".",
        ])
    }

    /// Moves "now" to the end of the day.
    fn daystart(&mut self) {
        let zone = crate::file::time::zone(self.cmd.sys);
        let at = crate::file::time::zoned(self.now, &zone);
        if let Ok(next) = at.tomorrow().and_then(|next| next.start_of_day()) {
            self.now = Timestamp {
                secs: next.timestamp().as_second(),
                nanos: 0,
            };
        }
    }

    fn test(&mut self, name: &'a [u8]) -> Parsed<Option<Expr>> {
        let matching = |subject, pattern: &[u8], fold_case| Expr::Match {
            subject,
            pattern: pattern.to_vec(),
            fold_case,
        };
        Ok(Some(match name {
            b"-true" => Expr::Constant(true),
            b"-false" | b"-nouser" | b"-nogroup" => Expr::Constant(false),
            b"-name" => matching(Subject::Name, self.argument(name)?, false),
            b"-iname" => matching(Subject::Name, self.argument(name)?, true),
            b"-path" | b"-wholename" => matching(Subject::Path, self.argument(name)?, false),
            b"-ipath" | b"-iwholename" => matching(Subject::Path, self.argument(name)?, true),
            b"-lname" => matching(Subject::Link, self.argument(name)?, false),
            b"-ilname" => matching(Subject::Link, self.argument(name)?, true),
            b"-regex" => self.regex(name, false)?,
            b"-iregex" => self.regex(name, true)?,
            b"-type" | b"-xtype" => Expr::Kind {
                kinds: self.kinds(name)?,
                other: name == b"-xtype",
            },
            b"-size" => self.size(name)?,
            b"-perm" => self.perm(name)?,
            b"-empty" => Expr::Empty,
            b"-links" => Expr::Links(self.count(name)?),
            b"-inum" => Expr::Inode(self.count(name)?),
            b"-uid" => Expr::User(self.count(name)?),
            b"-gid" => Expr::Group(self.count(name)?),
            b"-user" | b"-group" => self.owner(name)?,
            b"-samefile" => {
                let path = self.argument(name)?;
                let stat = self.stat(path)?;
                Expr::SameFile(stat.dev, stat.ino)
            }
            b"-readable" => Expr::Access(4),
            b"-writable" => Expr::Access(2),
            b"-executable" => Expr::Access(1),
            b"-fstype" => Expr::FsType(self.argument(name)?.to_vec()),
            b"-context" => {
                return bad(&[b"-context is not supported: no SELinux here"]);
            }
            _ => return Ok(None),
        }))
    }
}

const UNCLOSED: &[u8] =
    b"invalid expression; I was expecting to find a ')' somewhere but did not see one.";

fn one_or(mut parts: Vec<Expr>, many: fn(Vec<Expr>) -> Expr) -> Expr {
    match parts.pop() {
        Some(only) if parts.is_empty() => only,
        Some(last) => {
            parts.push(last);
            many(parts)
        }
        None => Expr::Constant(true),
    }
}
