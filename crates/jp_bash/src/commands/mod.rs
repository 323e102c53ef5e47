//! The programs a script can call: one file each, on the system calls of [`System`] alone.

pub(crate) mod awk;
pub(crate) mod basename;
pub(crate) mod calendar;
pub(crate) mod cat;
pub(crate) mod chmod;
mod choice;
pub(crate) mod cp;
pub(crate) mod curl;
mod cut;
mod date;
mod date_format;
mod date_grammar;
pub(crate) mod date_text;
mod date_words;
pub(crate) mod date_zone;
pub(crate) mod dirname;
pub(crate) mod env;
pub(crate) mod file;
pub(crate) mod find;
#[cfg(test)]
pub(crate) mod fixture;
pub(crate) mod grep;
mod head;
pub(crate) mod hostname;
pub(crate) mod id;
pub(crate) mod jq;
pub(crate) mod ln;
pub(crate) mod ls;
pub(crate) mod mkdir;
pub(crate) mod mkfifo;
pub(crate) mod mktemp;
pub(crate) mod mv;
pub(crate) mod nproc;
pub(crate) mod numbers;
pub(crate) mod options;
pub(crate) mod pace;
#[cfg(test)]
mod pace_tests;
pub(crate) mod printenv;
pub(crate) mod quote;
pub(crate) mod readlink;
pub(crate) mod realpath;
pub(crate) mod rm;
pub(crate) mod rmdir;
pub(crate) mod say;
pub(crate) mod sed;
pub(crate) mod seq;
pub(crate) mod sleep;
mod sort;
mod sort_key;
mod sort_merge;
mod sort_number;
mod sort_options;
mod sort_run;
pub(crate) mod stat;
pub(crate) mod table;
pub(crate) mod table_doc;
mod tail;
mod tail_follow;
pub(crate) mod tee;
#[cfg(test)]
mod text_tests;
pub(crate) mod timeout;
pub(crate) mod touch;
mod tr;
mod tr_set;
pub(crate) mod truncate;
pub(crate) mod uname;
mod uniq;
pub(crate) mod version_order;
mod wc;
pub(crate) mod whoami;
mod window;
pub(crate) mod xargs;
pub(crate) mod yes;

pub(crate) mod base64;
pub(crate) mod cksum;
pub(crate) mod cmp;
pub(crate) mod column;
pub(crate) mod comm;
pub(crate) mod dd;
pub(crate) mod diff;
pub(crate) mod digest;
pub(crate) mod du;
pub(crate) mod expand;
pub(crate) mod expr;
pub(crate) mod factor;
pub(crate) mod fold;
pub(crate) mod join;
pub(crate) mod link;
pub(crate) mod machine_facts;
pub(crate) mod nl;
pub(crate) mod numfmt;
pub(crate) mod od;
pub(crate) mod paste;
pub(crate) mod prefix;
pub(crate) mod rev;
pub(crate) mod shuf;
pub(crate) mod split;
pub(crate) mod sum;
pub(crate) mod tac;
pub(crate) mod tsort;
pub(crate) mod unexpand;
pub(crate) mod which;
pub(crate) mod whole;
pub(crate) mod xxd;

pub(crate) use jp_bash_system::Run;
pub(crate) use table::programs;

/// A command as the table lists it.
pub(crate) struct Spec {
    pub(crate) name: &'static str,
    /// One line for `help` and the documentation.
    pub(crate) about: &'static str,
    pub(crate) run: Run,
    /// Every option of GNU's `--help`, done or refused; the documentation's table is made from this.
    pub(crate) options: &'static [options::Opt],
}
