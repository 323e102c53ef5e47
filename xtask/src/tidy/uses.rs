//! The names that a file brings into scope: `use` trees, `extern crate … as …` and `type X = path`.

use super::tokens::{Kind, Token};
use Kind::{Colons, Sign, Word};

/// A path, as its segments.
pub(super) type Segments = Vec<String>;

/// One name that stands for a path.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Name {
    /// What it is called here; `*` for everything below the path.
    pub(super) name: String,
    pub(super) path: Segments,
    /// Whether other crates can see it.
    pub(super) is_public: bool,
    pub(super) line: usize,
}

/// The name of everything below a path.
pub(super) const GLOB: &str = "*";

/// Returns the names that the tokens define.
pub(super) fn names(tokens: &[Token<'_>]) -> Vec<Name> {
    let kind = |at: usize| tokens.get(at).map(|token| token.kind);
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        match tokens[at].kind {
            // `impl Trait + use<'a>` is something else.
            Word("use") if kind(at + 1) != Some(Sign('<')) => {
                let mut reader = Reader {
                    tokens,
                    at: at + 1,
                    is_public: is_public(tokens, at),
                    found: Vec::new(),
                };
                reader.tree(&[]);
                found.append(&mut reader.found);
            }
            Word("extern") => {
                if let (Some(Word("crate")), Some(Word(path)), Some(Word("as")), Some(Word(name))) =
                    (kind(at + 1), kind(at + 2), kind(at + 3), kind(at + 4))
                {
                    let path = vec![path.to_owned()];
                    found.push(Name {
                        name: name.to_owned(),
                        path,
                        is_public: is_public(tokens, at),
                        line: tokens[at].line,
                    });
                }
            }
            Word("type") => {
                if let (Some(Word(name)), Some(Sign('='))) = (kind(at + 1), kind(at + 2)) {
                    let (path, _) = path_at(tokens, at + 3);
                    if !path.is_empty() {
                        found.push(Name {
                            name: name.to_owned(),
                            path,
                            is_public: is_public(tokens, at),
                            line: tokens[at].line,
                        });
                    }
                }
            }
            _ => {}
        }
    }
    found
}

/// Returns whether the item at `at` is `pub` without restriction.
fn is_public(tokens: &[Token<'_>], at: usize) -> bool {
    at.checked_sub(1)
        .is_some_and(|before| tokens[before].kind == Word("pub"))
}

/// Reads `a::b::c` from `at`; returns it and the place behind it.
pub(super) fn path_at(tokens: &[Token<'_>], mut at: usize) -> (Segments, usize) {
    let kind = |at: usize| tokens.get(at).map(|token| token.kind);
    let mut path = Segments::new();
    if kind(at) == Some(Colons) {
        at += 1;
    }
    while let Some(Word(word)) = kind(at) {
        path.push(word.to_owned());
        at += 1;
        match (kind(at), kind(at + 1)) {
            (Some(Colons), Some(Word(_))) => at += 1,
            _ => break,
        }
    }
    (path, at)
}

struct Reader<'r, 's> {
    tokens: &'r [Token<'s>],
    at: usize,
    is_public: bool,
    found: Vec<Name>,
}

impl Reader<'_, '_> {
    fn kind(&self) -> Option<Kind<'_>> {
        self.tokens.get(self.at).map(|token| token.kind)
    }

    /// Reads one tree below `above`.
    fn tree(&mut self, above: &[String]) {
        let line = self.tokens.get(self.at).map_or(0, |token| token.line);
        let (below, end) = path_at(self.tokens, self.at);
        self.at = end;
        let mut path = [above, &below].concat();
        if self.kind() == Some(Colons) {
            self.at += 1;
        }
        match self.kind() {
            Some(Sign('{')) => self.group(&path),
            Some(Sign('*')) => {
                self.at += 1;
                self.push(GLOB.to_owned(), path, line);
            }
            after => {
                let is_renamed = after == Some(Word("as"));
                if path.last().is_some_and(|last| last == "self") && path.len() > 1 {
                    path.pop();
                }
                let last = path.last().cloned().unwrap_or_default();
                let name = match self.tokens.get(self.at + 1).map(|token| token.kind) {
                    Some(Word(name)) if is_renamed => name.to_owned(),
                    _ => last,
                };
                self.at += if is_renamed { 2 } else { 0 };
                if !path.is_empty() {
                    self.push(name, path, line);
                }
            }
        }
    }

    fn group(&mut self, above: &[String]) {
        self.at += 1;
        while let Some(kind) = self.kind() {
            match kind {
                Sign('}') => {
                    self.at += 1;
                    return;
                }
                Sign(',') => self.at += 1,
                Word(_) | Colons | Sign('{' | '*') => self.tree(above),
                // A macro's argument; the rest is no tree.
                _ => return,
            }
        }
    }

    fn push(&mut self, name: String, path: Segments, line: usize) {
        self.found.push(Name {
            name,
            path,
            is_public: self.is_public,
            line,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::tokens::tokens;
    use super::*;

    fn read(source: &str) -> Vec<String> {
        let found = names(&tokens(source));
        found
            .iter()
            .map(|one| {
                let mark = if one.is_public { "pub " } else { "" };
                format!("{mark}{}={}", one.name, one.path.join("::"))
            })
            .collect()
    }

    #[test]
    fn every_form_of_import_is_read() {
        assert_eq!(read("use a::b;"), ["b=a::b"]);
        assert_eq!(read("use ::a::b as c;"), ["c=a::b"]);
        assert_eq!(read("use a as b;"), ["b=a"]);
        assert_eq!(
            read("pub use a::{self as x, b::{c, d as e}, f::*};"),
            ["pub x=a", "pub c=a::b::c", "pub e=a::b::d", "pub *=a::f"]
        );
        assert_eq!(read("pub(crate) use {a::b, c::d};"), ["b=a::b", "d=c::d"]);
        assert_eq!(read("fn f() -> impl A + use<> { use a::b; }"), ["b=a::b"]);
        assert_eq!(
            read("extern crate std as s; pub type T = a::B; type U<X> = V;"),
            ["s=std", "pub T=a::B"]
        );
    }
}
