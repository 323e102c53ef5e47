//! What `help` knows: how each builtin and each word of the language is used, and what it does.

/// A topic of `help`.
pub(super) struct Topic {
    pub(super) name: &'static str,
    pub(super) synopsis: &'static str,
    pub(super) about: &'static str,
}

const fn topic(name: &'static str, synopsis: &'static str, about: &'static str) -> Topic {
    Topic {
        name,
        synopsis,
        about,
    }
}

/// All topics, by name.
pub(super) const TOPICS: &[Topic] = &[
    topic(
        "%",
        "job_spec [&]",
        "Brings a job to the foreground, or with & to the background.",
    ),
    topic(
        "(( ... ))",
        "(( expression ))",
        "Evaluates an arithmetic expression.",
    ),
    topic(
        ".",
        ". filename [arguments]",
        "Runs the commands of a file in this shell.",
    ),
    topic(":", ":", "Does nothing and succeeds."),
    topic("[", "[ arg... ]", "Like test, with a closing bracket."),
    topic("[[ ... ]]", "[[ expression ]]", "Evaluates a condition."),
    topic(
        "alias",
        "alias [-p] [name[=value] ... ]",
        "Sets or shows aliases.",
    ),
    topic(
        "bg",
        "bg [job_spec ...]",
        "Lets stopped jobs go on in the background.",
    ),
    topic(
        "bind",
        "bind [-lpsvPSVX] [-m keymap] [-f filename] [-q name] [-u name] [-r keyseq] [-x keyseq:shell-command] [keyseq:readline-function or readline-command]",
        "Changes keys of the line editor; there is none here.",
    ),
    topic("break", "break [n]", "Leaves loops."),
    topic(
        "builtin",
        "builtin [shell-builtin [arg ...]]",
        "Runs a builtin even if a function has its name.",
    ),
    topic(
        "caller",
        "caller [expr]",
        "Tells where the running function was called.",
    ),
    topic(
        "case",
        "case WORD in [PATTERN [| PATTERN]...) COMMANDS ;;]... esac",
        "Runs what stands behind the first pattern that fits.",
    ),
    topic(
        "cd",
        "cd [-L|[-P [-e]] [-@]] [dir]",
        "Changes the working directory.",
    ),
    topic(
        "command",
        "command [-pVv] command [arg ...]",
        "Runs a command, never a function; or tells what a name stands for.",
    ),
    topic(
        "compgen",
        "compgen [-abcdefgjksuv] [-o option] [-A action] [-G globpat] [-W wordlist] [-F function] [-C command] [-X filterpat] [-P prefix] [-S suffix] [word]",
        "Prints possible completions of a word.",
    ),
    topic(
        "complete",
        "complete [-abcdefgjksuv] [-pr] [-DEI] [-o option] [-A action] [-G globpat] [-W wordlist] [-F function] [-C command] [-X filterpat] [-P prefix] [-S suffix] [name ...]",
        "Sets how words of a command are completed.",
    ),
    topic(
        "compopt",
        "compopt [-o|+o option] [-DEI] [name ...]",
        "Changes options of completions.",
    ),
    topic(
        "continue",
        "continue [n]",
        "Goes on with the next turn of a loop.",
    ),
    topic(
        "coproc",
        "coproc [NAME] command [redirections]",
        "Runs a command beside the shell, joined by two pipes.",
    ),
    topic(
        "declare",
        "declare [-aAfFgiIlnrtux] [name[=value] ...] or declare -p [-aAfFilnrtux] [name ...]",
        "Sets variables and their attributes.",
    ),
    topic(
        "dirs",
        "dirs [-clpv] [+N] [-N]",
        "Shows the stack of directories.",
    ),
    topic(
        "disown",
        "disown [-h] [-ar] [jobspec ... | pid ...]",
        "Takes jobs off the list.",
    ),
    topic("echo", "echo [-neE] [arg ...]", "Prints its arguments."),
    topic(
        "enable",
        "enable [-a] [-dnps] [-f filename] [name ...]",
        "Turns builtins on and off.",
    ),
    topic("eval", "eval [arg ...]", "Runs its arguments as a command."),
    topic(
        "exec",
        "exec [-cl] [-a name] [command [argument ...]] [redirection ...]",
        "Runs a program in place of the shell, or keeps redirections.",
    ),
    topic("exit", "exit [n]", "Ends the shell."),
    topic(
        "export",
        "export [-fn] [name[=value] ...] or export -p",
        "Passes variables and functions on to programs.",
    ),
    topic("false", "false", "Does nothing and fails."),
    topic(
        "fc",
        "fc [-e ename] [-lnr] [first] [last] or fc -s [pat=rep] [command]",
        "Lists commands of the history, or runs one again.",
    ),
    topic("fg", "fg [job_spec]", "Brings a job to the foreground."),
    topic(
        "for",
        "for NAME [in WORDS ... ] ; do COMMANDS; done",
        "Runs commands for each word.",
    ),
    topic(
        "for ((",
        "for (( exp1; exp2; exp3 )); do COMMANDS; done",
        "Counts with arithmetic expressions.",
    ),
    topic(
        "function",
        "function name { COMMANDS ; } or name () { COMMANDS ; }",
        "Defines a function.",
    ),
    topic(
        "getopts",
        "getopts optstring name [arg ...]",
        "Reads options of a script or function.",
    ),
    topic(
        "hash",
        "hash [-lr] [-p pathname] [-dt] [name ...]",
        "Shows or changes where commands were found.",
    ),
    topic(
        "help",
        "help [-dms] [pattern ...]",
        "Tells about builtins and the words of the language.",
    ),
    topic(
        "history",
        "history [-c] [-d offset] [n] or history -anrw [filename] or history -ps arg [arg...]",
        "Shows or changes the history.",
    ),
    topic(
        "if",
        "if COMMANDS; then COMMANDS; [ elif COMMANDS; then COMMANDS; ]... [ else COMMANDS; ] fi",
        "Runs commands if others succeed.",
    ),
    topic(
        "jobs",
        "jobs [-lnprs] [jobspec ...] or jobs -x command [args]",
        "Lists jobs.",
    ),
    topic(
        "kill",
        "kill [-s sigspec | -n signum | -sigspec] pid | jobspec ... or kill -l [sigspec]",
        "Sends a signal to processes or jobs.",
    ),
    topic(
        "let",
        "let arg [arg ...]",
        "Evaluates arithmetic expressions.",
    ),
    topic(
        "local",
        "local [option] name[=value] ...",
        "Sets variables of a function.",
    ),
    topic("logout", "logout [n]", "Ends a login shell."),
    topic(
        "mapfile",
        "mapfile [-d delim] [-n count] [-O origin] [-s count] [-t] [-u fd] [-C callback] [-c quantum] [array]",
        "Reads lines into an array.",
    ),
    topic(
        "popd",
        "popd [-n] [+N | -N]",
        "Leaves a directory of the stack.",
    ),
    topic(
        "printf",
        "printf [-v var] format [arguments]",
        "Prints arguments by a format.",
    ),
    topic(
        "pushd",
        "pushd [-n] [+N | -N | dir]",
        "Enters a directory and puts it on the stack.",
    ),
    topic("pwd", "pwd [-LP]", "Prints the working directory."),
    topic(
        "read",
        "read [-ers] [-a array] [-d delim] [-i text] [-n nchars] [-N nchars] [-p prompt] [-t timeout] [-u fd] [name ...]",
        "Reads a line into variables.",
    ),
    topic(
        "readarray",
        "readarray [-d delim] [-n count] [-O origin] [-s count] [-t] [-u fd] [-C callback] [-c quantum] [array]",
        "Reads lines into an array.",
    ),
    topic(
        "readonly",
        "readonly [-aAf] [name[=value] ...] or readonly -p",
        "Keeps variables and functions from being changed.",
    ),
    topic(
        "return",
        "return [n]",
        "Leaves a function or a sourced file.",
    ),
    topic(
        "select",
        "select NAME [in WORDS ... ;] do COMMANDS; done",
        "Lets the user choose a word from a list.",
    ),
    topic(
        "set",
        "set [-abefhkmnptuvxBCEHPT] [-o option-name] [--] [-] [arg ...]",
        "Sets options and positional parameters; shows variables.",
    ),
    topic(
        "shift",
        "shift [n]",
        "Moves positional parameters to the left.",
    ),
    topic(
        "shopt",
        "shopt [-pqsu] [-o] [optname ...]",
        "Sets or shows options of the shell.",
    ),
    topic(
        "source",
        "source filename [arguments]",
        "Runs the commands of a file in this shell.",
    ),
    topic("suspend", "suspend [-f]", "Stops the shell."),
    topic("test", "test [expr]", "Tests files, texts and numbers."),
    topic(
        "time",
        "time [-p] pipeline",
        "Reports how long a pipeline took.",
    ),
    topic("times", "times", "Prints the time that was used."),
    topic(
        "trap",
        "trap [-lp] [[arg] signal_spec ...]",
        "Sets what happens on signals and other events.",
    ),
    topic("true", "true", "Does nothing and succeeds."),
    topic(
        "type",
        "type [-afptP] name [name ...]",
        "Tells what a name stands for.",
    ),
    topic(
        "typeset",
        "typeset [-aAfFgiIlnrtux] name[=value] ... or typeset -p [-aAfFilnrtux] [name ...]",
        "Sets variables and their attributes.",
    ),
    topic(
        "ulimit",
        "ulimit [-SHabcdefiklmnpqrstuvxPRT] [limit]",
        "Shows or sets limits.",
    ),
    topic(
        "umask",
        "umask [-p] [-S] [mode]",
        "Shows or sets the mask of permissions.",
    ),
    topic(
        "unalias",
        "unalias [-a] name [name ...]",
        "Takes aliases away.",
    ),
    topic(
        "unset",
        "unset [-f] [-v] [-n] [name ...]",
        "Takes variables and functions away.",
    ),
    topic(
        "until",
        "until COMMANDS; do COMMANDS-2; done",
        "Repeats commands until others succeed.",
    ),
    topic(
        "variables",
        "variables - Names and meanings of some shell variables",
        "Variables that the shell sets or uses.",
    ),
    topic(
        "wait",
        "wait [-fn] [-p var] [id ...]",
        "Waits for jobs and returns a status.",
    ),
    topic(
        "while",
        "while COMMANDS; do COMMANDS-2; done",
        "Repeats commands while others succeed.",
    ),
    topic("{ ... }", "{ COMMANDS ; }", "Runs commands as one."),
];
