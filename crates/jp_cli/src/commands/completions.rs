//! `jp completions`: what shells complete, from the same definitions as the help. Names of tools, topics and
//! arguments are asked for when they are typed: `jp __complete`.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::{cli::Cli, error::CliError, exit::Exit, ui::Ui};

/// What bash asks first; clap's own function does the rest.
const BASH: &str = r#"
_jp_dynamic() {
    local found
    found=$(jp __complete "$COMP_CWORD" "${COMP_WORDS[@]}" 2>/dev/null)
    if [ -z "$found" ]; then
        _jp "$@"
        return
    fi
    local IFS=$'\n' typed="${COMP_WORDS[COMP_CWORD]}"
    [ "$typed" = "=" ] && typed=""
    COMPREPLY=($(compgen -W "$found" -- "$typed"))
    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace
}
complete -F _jp_dynamic -o bashdefault -o default jp
"#;

/// The same for zsh.
const ZSH: &str = r#"
_jp_dynamic() {
    local -a found
    found=("${(@f)$(jp __complete $((CURRENT - 1)) "${words[@]}" 2>/dev/null)}")
    if [[ -z "${found[1]}" ]]; then
        _jp "$@"
        return
    fi
    if [[ "${found[1]}" == *= ]]; then
        compadd -S '' -- "${found[@]}"
    else
        compadd -- "${found[@]}"
    fi
}
"#;

/// The same for fish, which adds them to what it knows.
const FISH: &str = r#"
function __jp_dynamic
    set -l before (commandline -opc)
    jp __complete (count $before) $before (commandline -ct) 2>/dev/null
end
complete -c jp -n 'test -n "$(__jp_dynamic)"' -f -a '(__jp_dynamic)'
"#;

/// Arguments of `jp completions`.
#[derive(Debug, Args)]
#[command(after_help = "\
Names of tools, their arguments, topics and MCP servers are completed too.

Examples:
  jp completions bash > ~/.local/share/bash-completion/completions/jp
  jp completions zsh > ~/.zfunc/_jp            # with ~/.zfunc in fpath
  jp completions fish > ~/.config/fish/completions/jp.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// Writes completions to standard output.
pub(crate) fn run(args: &CompletionsArgs, ui: &Ui) -> Result<Exit, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "jp", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    let script = match args.shell {
        Shell::Bash => format!("{script}{BASH}"),
        Shell::Zsh => zsh(&script),
        Shell::Fish => format!("{script}{FISH}"),
        _ => script,
    };
    ui.bytes(script.as_bytes())?;
    Ok(Exit::Done)
}

/// Puts our function before the end of the script, which calls or registers one.
fn zsh(script: &str) -> String {
    match script.rfind("\nif [ \"$funcstack[1]\" = \"_jp\" ]") {
        Some(end) => {
            let (start, end) = script.split_at(end);
            let end = end.replace("_jp \"$@\"", "_jp_dynamic \"$@\"");
            let end = end.replace("compdef _jp jp", "compdef _jp_dynamic jp");
            format!("{start}\n{ZSH}{end}")
        }
        None => format!("{script}{ZSH}"),
    }
}
