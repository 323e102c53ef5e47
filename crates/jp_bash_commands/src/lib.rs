//! The programs a script can call: one file each, on the system calls of [`System`](jp_bash_system::System) alone.

mod awk;
mod basename;
mod calendar;
mod cat;
mod chmod;
mod choice;
mod cp;
mod curl;
mod cut;
mod date;
mod date_format;
mod date_grammar;
mod date_text;
mod date_words;
mod date_zone;
mod dirname;
mod env;
mod file;
mod find;
#[cfg(test)]
mod fixture;
mod grep;
mod head;
mod hostname;
mod id;
mod jq;
mod ln;
mod ls;
mod mkdir;
mod mkfifo;
mod mktemp;
mod mv;
mod nproc;
mod numbers;
mod options;
mod pace;
mod printenv;
mod quote;
mod readlink;
mod realpath;
mod rm;
mod rmdir;
mod say;
mod sed;
mod seq;
mod sleep;
mod sort;
mod sort_key;
mod sort_merge;
mod sort_number;
mod sort_options;
mod sort_run;
mod stat;
mod table;
mod table_doc;
mod tail;
mod tail_follow;
mod tee;
#[cfg(test)]
mod text_tests;
mod timeout;
mod touch;
mod tr;
mod tr_set;
mod truncate;
mod uname;
mod uniq;
mod version_order;
mod wc;
mod whoami;
mod window;
mod xargs;
mod yes;

mod base64;
mod cksum;
mod cmp;
mod column;
mod comm;
mod dd;
mod diff;
mod digest;
mod du;
mod expand;
mod expr;
mod factor;
mod fold;
mod join;
mod link;
mod machine_facts;
mod nl;
mod numfmt;
mod od;
mod paste;
mod prefix;
mod rev;
mod shuf;
mod split;
mod sum;
mod tac;
mod tsort;
mod unexpand;
mod which;
mod whole;
mod xxd;

pub use table::programs;
pub use table_doc::command_table;

use jp_bash_system::Run;

/// A command as the table lists it.
pub(crate) struct Spec {
    pub(crate) name: &'static str,
    /// One line for `help` and the documentation.
    pub(crate) about: &'static str,
    pub(crate) run: Run,
    /// Every option of GNU's `--help`, done or refused; the documentation's table is made from this.
    pub(crate) options: &'static [options::Opt],
}
