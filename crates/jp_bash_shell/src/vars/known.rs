//! Names the shell itself knows, with fixed numbers: a session interns them first, in this order.

use jp_bash_syntax::names::{Name, Names};

macro_rules! known {
    ($($id:ident = $text:literal,)*) => {
        #[expect(non_camel_case_types, clippy::upper_case_acronyms, reason = "the names of variables")]
        enum Order { $($id,)* }
        $(
            #[doc = concat!("`", $text, "`")]
            pub(crate) const $id: Name = Name(Order::$id as u32);
        )*
        /// All of them, in order.
        const ALL: &[&str] = &[$($text,)*];
    };
}

known! {
    IFS = "IFS",
    LANG = "LANG",
    LC_ALL = "LC_ALL",
    LC_CTYPE = "LC_CTYPE",
    GLOBIGNORE = "GLOBIGNORE",
    PATH = "PATH",
    OPTIND = "OPTIND",
    HOME = "HOME",
    TZ = "TZ",
    BASH_XTRACEFD = "BASH_XTRACEFD",
    POSIXLY_CORRECT = "POSIXLY_CORRECT",
    BASH_COMPAT = "BASH_COMPAT",
    // The ones above are watched: see `Vars::changes`.
    PWD = "PWD",
    OLDPWD = "OLDPWD",
    OPTARG = "OPTARG",
    OPTERR = "OPTERR",
    REPLY = "REPLY",
    MAPFILE = "MAPFILE",
    BASH_REMATCH = "BASH_REMATCH",
    PS3 = "PS3",
    PS4 = "PS4",
    SHLVL = "SHLVL",
    CDPATH = "CDPATH",
    TIMEFORMAT = "TIMEFORMAT",
    FUNCNEST = "FUNCNEST",
    BASH = "BASH",
    BASH_VERSION = "BASH_VERSION",
    BASH_VERSINFO = "BASH_VERSINFO",
    HOSTNAME = "HOSTNAME",
    HOSTTYPE = "HOSTTYPE",
    OSTYPE = "OSTYPE",
    MACHTYPE = "MACHTYPE",
    UID = "UID",
    EUID = "EUID",
    PPID = "PPID",
    UNDERSCORE = "_",
    // From here on: computed when read, see `dynamic.rs`.
    RANDOM = "RANDOM",
    SRANDOM = "SRANDOM",
    SECONDS = "SECONDS",
    LINENO = "LINENO",
    EPOCHSECONDS = "EPOCHSECONDS",
    EPOCHREALTIME = "EPOCHREALTIME",
    BASHPID = "BASHPID",
    BASH_SUBSHELL = "BASH_SUBSHELL",
    BASH_COMMAND = "BASH_COMMAND",
    BASH_ARGV0 = "BASH_ARGV0",
    SHELLOPTS = "SHELLOPTS",
    BASHOPTS = "BASHOPTS",
    FUNCNAME = "FUNCNAME",
    BASH_SOURCE = "BASH_SOURCE",
    BASH_LINENO = "BASH_LINENO",
    BASH_ARGC = "BASH_ARGC",
    BASH_ARGV = "BASH_ARGV",
    PIPESTATUS = "PIPESTATUS",
    DIRSTACK = "DIRSTACK",
    GROUPS = "GROUPS",
    HISTCMD = "HISTCMD",
    BASH_ALIASES = "BASH_ALIASES",
    BASH_CMDS = "BASH_CMDS",
}

/// The last name whose changes are counted.
pub(crate) const LAST_WATCHED: Name = BASH_COMPAT;
/// The first name that is computed.
pub(crate) const FIRST_DYNAMIC: Name = RANDOM;
/// The last name that is computed.
pub(crate) const LAST_DYNAMIC: Name = BASH_CMDS;

/// Interns the known names; must be the first to intern anything.
pub(crate) fn intern(names: &mut Names) {
    for text in ALL {
        names.intern(text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_names_have_their_fixed_numbers() {
        let mut names = Names::default();
        intern(&mut names);
        assert_eq!(names.find(b"IFS"), Some(IFS));
        assert_eq!(names.find(b"BASH_CMDS"), Some(LAST_DYNAMIC));
        assert_eq!(names.count(), ALL.len());
    }
}
