//! The programs a script can call: one file each, on the system calls of [`System`](jp_bash_system::System) alone.

mod awk;
mod base64;
mod basename;
mod calendar;
mod cat;
mod chmod;
mod choice;
mod cksum;
mod cmp;
mod column;
mod comm;
mod cp;
mod curl;
mod cut;
mod date;
mod date_format;
mod date_grammar;
mod date_text;
mod date_words;
mod date_zone;
mod dd;
mod diff;
mod digest;
mod dirname;
mod du;
mod env;
mod expand;
mod expr;
mod factor;
mod file;
mod find;
#[cfg(test)]
mod fixture;
mod fold;
mod grep;
mod head;
mod hostname;
mod id;
mod join;
mod jq;
mod link;
mod ln;
mod ls;
mod machine_facts;
mod mkdir;
mod mkfifo;
mod mktemp;
mod mv;
mod nl;
mod nproc;
mod numbers;
mod numfmt;
mod od;
mod options;
mod pace;
mod paste;
mod prefix;
mod printenv;
mod quote;
mod readlink;
mod realpath;
mod rev;
mod rm;
mod rmdir;
mod say;
mod sed;
mod seq;
mod shuf;
mod sleep;
mod sort;
mod sort_key;
mod sort_merge;
mod sort_number;
mod sort_options;
mod sort_run;
mod split;
mod stat;
mod sum;
mod table;
mod table_doc;
mod tac;
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
mod tsort;
mod uname;
mod unexpand;
mod uniq;
mod version_order;
mod wc;
mod which;
mod whoami;
mod whole;
mod window;
mod xargs;
mod xxd;
mod yes;

use jp_bash_system::Run;

pub use table::programs;
pub use table_doc::command_table;

/// A command as the table lists it.
pub(crate) struct Spec {
    pub(crate) name: &'static str,
    /// One line for `help` and the documentation.
    pub(crate) about: &'static str,
    pub(crate) run: Run,
    /// Every option of GNU's `--help`, done or refused; the documentation's table is made from this.
    pub(crate) options: &'static [options::Opt],
}
