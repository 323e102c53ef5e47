//! `grep`, `egrep`, `fgrep`: prints the lines that match a pattern.

mod config;
mod glob;
mod print;
mod search;
#[cfg(test)]
mod tests;
mod walk;

use jp_bash_system::{Stop, System};

use crate::Spec;
use crate::options::{Opt, Takes, opt};

const NONE: Takes = Takes::Nothing;
const NEEDS: Takes = Takes::Required;

pub(crate) const OPTIONS: &[Opt] = &[
    opt('E', Some(b'E'), Some("extended-regexp"), NONE),
    opt('F', Some(b'F'), Some("fixed-strings"), NONE),
    opt('G', Some(b'G'), Some("basic-regexp"), NONE),
    opt('P', Some(b'P'), Some("perl-regexp"), NONE),
    opt('e', Some(b'e'), Some("regexp"), NEEDS),
    opt('f', Some(b'f'), Some("file"), NEEDS),
    opt('i', Some(b'i'), Some("ignore-case"), NONE),
    opt('y', Some(b'y'), None, NONE),
    opt('\u{100}', None, Some("no-ignore-case"), NONE),
    opt('w', Some(b'w'), Some("word-regexp"), NONE),
    opt('x', Some(b'x'), Some("line-regexp"), NONE),
    opt('z', Some(b'z'), Some("null-data"), NONE),
    opt('s', Some(b's'), Some("no-messages"), NONE),
    opt('v', Some(b'v'), Some("invert-match"), NONE),
    opt('V', Some(b'V'), Some("version"), NONE),
    opt('\u{101}', None, Some("help"), NONE),
    opt('m', Some(b'm'), Some("max-count"), NEEDS),
    opt('b', Some(b'b'), Some("byte-offset"), NONE),
    opt('n', Some(b'n'), Some("line-number"), NONE),
    opt('\u{102}', None, Some("line-buffered"), NONE),
    opt('H', Some(b'H'), Some("with-filename"), NONE),
    opt('h', Some(b'h'), Some("no-filename"), NONE),
    opt('\u{103}', None, Some("label"), NEEDS),
    opt('o', Some(b'o'), Some("only-matching"), NONE),
    opt('q', Some(b'q'), Some("quiet"), NONE),
    opt('q', None, Some("silent"), NONE),
    opt('\u{104}', None, Some("binary-files"), NEEDS),
    opt('a', Some(b'a'), Some("text"), NONE),
    opt('I', Some(b'I'), None, NONE),
    opt('d', Some(b'd'), Some("directories"), NEEDS),
    opt('D', Some(b'D'), Some("devices"), NEEDS),
    opt('r', Some(b'r'), Some("recursive"), NONE),
    opt('R', Some(b'R'), Some("dereference-recursive"), NONE),
    opt('\u{105}', None, Some("include"), NEEDS),
    opt('\u{106}', None, Some("exclude"), NEEDS),
    opt('\u{107}', None, Some("exclude-from"), NEEDS),
    opt('\u{108}', None, Some("exclude-dir"), NEEDS),
    opt('L', Some(b'L'), Some("files-without-match"), NONE),
    opt('l', Some(b'l'), Some("files-with-matches"), NONE),
    opt('c', Some(b'c'), Some("count"), NONE),
    opt('T', Some(b'T'), Some("initial-tab"), NONE),
    opt('Z', Some(b'Z'), Some("null"), NONE),
    opt('B', Some(b'B'), Some("before-context"), NEEDS),
    opt('A', Some(b'A'), Some("after-context"), NEEDS),
    opt('C', Some(b'C'), Some("context"), NEEDS),
    opt('\u{109}', None, Some("group-separator"), NEEDS),
    opt('\u{10a}', None, Some("no-group-separator"), NONE),
    opt('\u{10b}', None, Some("color"), Takes::Optional),
    opt('\u{10b}', None, Some("colour"), Takes::Optional),
    opt('U', Some(b'U'), Some("binary"), NONE),
    opt('0', Some(b'0'), None, NONE),
    opt('1', Some(b'1'), None, NONE),
    opt('2', Some(b'2'), None, NONE),
    opt('3', Some(b'3'), None, NONE),
    opt('4', Some(b'4'), None, NONE),
    opt('5', Some(b'5'), None, NONE),
    opt('6', Some(b'6'), None, NONE),
    opt('7', Some(b'7'), None, NONE),
    opt('8', Some(b'8'), None, NONE),
    opt('9', Some(b'9'), None, NONE),
];

/// The commands of this file.
pub(crate) const SPECS: &[Spec] = &[
    Spec {
        name: "grep",
        about: "print lines that match patterns",
        run,
        options: OPTIONS,
    },
    Spec {
        name: "egrep",
        about: "grep -E",
        run,
        options: OPTIONS,
    },
    Spec {
        name: "fgrep",
        about: "grep -F",
        run,
        options: OPTIONS,
    },
];

/// Runs grep; by the name `egrep` or `fgrep` with their pattern syntax.
pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    match config::read(sys, args)? {
        Ok(config) => walk::search_all(sys, config),
        Err(status) => Ok(status),
    }
}
