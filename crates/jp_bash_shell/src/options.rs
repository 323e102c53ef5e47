//! The options of `set` and `shopt`: one bit each.

/// An option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Opt {
    AllExport,
    BraceExpand,
    Emacs,
    ErrExit,
    ErrTrace,
    FuncTrace,
    HashAll,
    HistExpand,
    History,
    Ignoreeof,
    InteractiveComments,
    Keyword,
    Monitor,
    NoClobber,
    NoExec,
    NoGlob,
    Nolog,
    Notify,
    NoUnset,
    OneCmd,
    Physical,
    PipeFail,
    Posix,
    Privileged,
    Verbose,
    Vi,
    XTrace,
    Autocd,
    AssocExpandOnce,
    CdableVars,
    Cdspell,
    Checkhash,
    Checkjobs,
    Checkwinsize,
    Cmdhist,
    Compat31,
    Compat32,
    Compat40,
    Compat41,
    Compat42,
    Compat43,
    Compat44,
    CompleteFullquote,
    Direxpand,
    Dirspell,
    DotGlob,
    ExecFail,
    ExpandAliases,
    ExtDebug,
    ExtGlob,
    Extquote,
    FailGlob,
    ForceFignore,
    GlobAsciiRanges,
    GlobSkipDots,
    GlobStar,
    GnuErrfmt,
    Histappend,
    Histreedit,
    Histverify,
    Hostcomplete,
    Huponexit,
    InheritErrExit,
    LastPipe,
    Lithist,
    LocalvarInherit,
    LocalvarUnset,
    LoginShell,
    Mailwarn,
    NoEmptyCmdCompletion,
    NoCaseGlob,
    NoCaseMatch,
    NoexpandTranslation,
    NullGlob,
    PatsubReplacement,
    Progcomp,
    ProgcompAlias,
    PromptVars,
    RestrictedShell,
    ShiftVerbose,
    SourcePath,
    VarredirClose,
    XpgEcho,
}

/// Names of `set -o` in the order in which bash lists them, with their letters.
pub(crate) const SET: &[(&str, Opt, Option<u8>)] = &[
    ("allexport", Opt::AllExport, Some(b'a')),
    ("braceexpand", Opt::BraceExpand, Some(b'B')),
    ("emacs", Opt::Emacs, None),
    ("errexit", Opt::ErrExit, Some(b'e')),
    ("errtrace", Opt::ErrTrace, Some(b'E')),
    ("functrace", Opt::FuncTrace, Some(b'T')),
    ("hashall", Opt::HashAll, Some(b'h')),
    ("histexpand", Opt::HistExpand, Some(b'H')),
    ("history", Opt::History, None),
    ("ignoreeof", Opt::Ignoreeof, None),
    ("interactive-comments", Opt::InteractiveComments, None),
    ("keyword", Opt::Keyword, Some(b'k')),
    ("monitor", Opt::Monitor, Some(b'm')),
    ("noclobber", Opt::NoClobber, Some(b'C')),
    ("noexec", Opt::NoExec, Some(b'n')),
    ("noglob", Opt::NoGlob, Some(b'f')),
    ("nolog", Opt::Nolog, None),
    ("notify", Opt::Notify, Some(b'b')),
    ("nounset", Opt::NoUnset, Some(b'u')),
    ("onecmd", Opt::OneCmd, Some(b't')),
    ("physical", Opt::Physical, Some(b'P')),
    ("pipefail", Opt::PipeFail, None),
    ("posix", Opt::Posix, None),
    ("privileged", Opt::Privileged, Some(b'p')),
    ("verbose", Opt::Verbose, Some(b'v')),
    ("vi", Opt::Vi, None),
    ("xtrace", Opt::XTrace, Some(b'x')),
];

/// Names of `shopt` in the order in which bash lists them.
pub(crate) const SHOPT: &[(&str, Opt)] = &[
    ("autocd", Opt::Autocd),
    ("assoc_expand_once", Opt::AssocExpandOnce),
    ("cdable_vars", Opt::CdableVars),
    ("cdspell", Opt::Cdspell),
    ("checkhash", Opt::Checkhash),
    ("checkjobs", Opt::Checkjobs),
    ("checkwinsize", Opt::Checkwinsize),
    ("cmdhist", Opt::Cmdhist),
    ("compat31", Opt::Compat31),
    ("compat32", Opt::Compat32),
    ("compat40", Opt::Compat40),
    ("compat41", Opt::Compat41),
    ("compat42", Opt::Compat42),
    ("compat43", Opt::Compat43),
    ("compat44", Opt::Compat44),
    ("complete_fullquote", Opt::CompleteFullquote),
    ("direxpand", Opt::Direxpand),
    ("dirspell", Opt::Dirspell),
    ("dotglob", Opt::DotGlob),
    ("execfail", Opt::ExecFail),
    ("expand_aliases", Opt::ExpandAliases),
    ("extdebug", Opt::ExtDebug),
    ("extglob", Opt::ExtGlob),
    ("extquote", Opt::Extquote),
    ("failglob", Opt::FailGlob),
    ("force_fignore", Opt::ForceFignore),
    ("globasciiranges", Opt::GlobAsciiRanges),
    ("globskipdots", Opt::GlobSkipDots),
    ("globstar", Opt::GlobStar),
    ("gnu_errfmt", Opt::GnuErrfmt),
    ("histappend", Opt::Histappend),
    ("histreedit", Opt::Histreedit),
    ("histverify", Opt::Histverify),
    ("hostcomplete", Opt::Hostcomplete),
    ("huponexit", Opt::Huponexit),
    ("inherit_errexit", Opt::InheritErrExit),
    ("interactive_comments", Opt::InteractiveComments),
    ("lastpipe", Opt::LastPipe),
    ("lithist", Opt::Lithist),
    ("localvar_inherit", Opt::LocalvarInherit),
    ("localvar_unset", Opt::LocalvarUnset),
    ("login_shell", Opt::LoginShell),
    ("mailwarn", Opt::Mailwarn),
    ("no_empty_cmd_completion", Opt::NoEmptyCmdCompletion),
    ("nocaseglob", Opt::NoCaseGlob),
    ("nocasematch", Opt::NoCaseMatch),
    ("noexpand_translation", Opt::NoexpandTranslation),
    ("nullglob", Opt::NullGlob),
    ("patsub_replacement", Opt::PatsubReplacement),
    ("progcomp", Opt::Progcomp),
    ("progcomp_alias", Opt::ProgcompAlias),
    ("promptvars", Opt::PromptVars),
    ("restricted_shell", Opt::RestrictedShell),
    ("shift_verbose", Opt::ShiftVerbose),
    ("sourcepath", Opt::SourcePath),
    ("varredir_close", Opt::VarredirClose),
    ("xpg_echo", Opt::XpgEcho),
];

/// Letters in the order in which `$-` shows them.
const LETTERS: &[u8] = b"abefhkmnptuvxBCEHPT";

/// Which options are on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Options {
    bits: u128,
}

impl Default for Options {
    fn default() -> Self {
        let mut options = Self { bits: 0 };
        for opt in [
            Opt::BraceExpand,
            Opt::HashAll,
            Opt::InteractiveComments,
            Opt::Checkwinsize,
            Opt::Cmdhist,
            Opt::CompleteFullquote,
            Opt::Extquote,
            Opt::ForceFignore,
            Opt::GlobAsciiRanges,
            Opt::GlobSkipDots,
            Opt::Hostcomplete,
            Opt::PatsubReplacement,
            Opt::Progcomp,
            Opt::PromptVars,
            Opt::SourcePath,
        ] {
            options.set(opt, true);
        }
        options
    }
}

impl Options {
    /// Tells whether an option is on.
    #[inline]
    pub(crate) fn has(self, opt: Opt) -> bool {
        self.bits >> (opt as u8) & 1 != 0
    }

    /// Turns an option on or off.
    pub(crate) fn set(&mut self, opt: Opt, on: bool) {
        let bit = 1u128 << (opt as u8);
        if on {
            self.bits |= bit;
        } else {
            self.bits &= !bit;
        }
    }

    /// Returns `$-` without the letters for how the shell was started.
    pub(crate) fn letters(self) -> Vec<u8> {
        LETTERS
            .iter()
            .copied()
            .filter(|letter| by_letter(*letter).is_some_and(|opt| self.has(opt)))
            .collect()
    }
}

/// Finds an option of `set -o`.
pub(crate) fn by_set_name(name: &[u8]) -> Option<Opt> {
    SET.iter()
        .find(|(known, ..)| known.as_bytes() == name)
        .map(|(_, opt, _)| *opt)
}

/// Finds an option of `shopt`.
pub(crate) fn by_shopt_name(name: &[u8]) -> Option<Opt> {
    SHOPT
        .iter()
        .find(|(known, _)| known.as_bytes() == name)
        .map(|(_, opt)| *opt)
}

/// Finds an option by its letter.
pub(crate) fn by_letter(letter: u8) -> Option<Opt> {
    SET.iter()
        .find(|(_, _, known)| *known == Some(letter))
        .map(|(_, opt, _)| *opt)
}
