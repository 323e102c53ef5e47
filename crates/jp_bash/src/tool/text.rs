//! What the tool tells models about itself. Every word is part of the contract: see the golden tests.

use jp_bash_system::Bounds;

/// The commands that the contract names, in its order.
pub(super) const NAMED: &[&str] = &[
    "echo", "cat", "grep", "sed", "awk", "jq", "curl", "head", "tail", "sort", "uniq", "cut", "tr",
    "wc", "date", "sleep", "mkdir", "rm", "cp", "mv", "touch", "chmod", "printf", "test", "[",
    "true", "false", "exit", "cd", "pwd", "ls", "find", "xargs", "basename", "dirname", "env",
    "export", "read",
];

/// One line about the tool.
pub(super) const SHORT: &str = "Virtual bash interpreter with virtual filesystem";

const MANUAL: &str = r#"BASH(1)                          User Commands                         BASH(1)

NAME
       bashkit - virtual bash interpreter with virtual filesystem

SYNOPSIS
       {"commands": "<bash commands>"}

DESCRIPTION
       Bashkit executes bash commands in a virtual environment with a virtual
       filesystem. All file operations are contained within the virtual environment.

       Supports full bash syntax including variables, pipelines, redirects,
       loops, conditionals, functions, and arrays.

BUILTINS
@BUILTINS@

INPUT
       commands    Bash commands to execute (like bash -c "commands")

OUTPUT
       stdout      Standard output from the commands
       stderr      Standard error from the commands
       exit_code   Exit status (0 = success)

EXAMPLES
       Simple echo:
           {"commands": "echo 'Hello, World!'"}

       Arithmetic:
           {"commands": "x=5; y=3; echo $((x + y))"}

       Pipeline:
           {"commands": "echo -e 'apple\nbanana' | grep a"}

       JSON processing:
           {"commands": "echo '{\"n\":1}' | jq '.n'"}

       File operations (virtual):
           {"commands": "echo data > /tmp/f.txt && cat /tmp/f.txt"}

       Run script from VFS:
           {"commands": "source /path/to/script.sh"}

EXIT STATUS
       0      Success
       1-125  Command-specific error
       126    Command not executable
       127    Command not found

SEE ALSO
       bash(1), sh(1)
"#;

/// What a configuration adds to the texts.
pub(super) struct Facts<'a> {
    /// The contract's commands, ours and the embedder's, in this order.
    pub(super) commands: &'a [String],
    pub(super) username: Option<&'a str>,
    pub(super) hostname: Option<&'a str>,
    pub(super) limits: Option<&'a Bounds>,
    /// Names only: values may be secrets.
    pub(super) env: &'a [String],
}

/// Writes the full description.
pub(super) fn description(facts: &Facts<'_>) -> String {
    format!("{SHORT}. Supported tools: {}", facts.commands.join(" "))
}

/// Writes the header for a system prompt.
pub(super) fn system_prompt(facts: &Facts<'_>) -> String {
    let mut text = format!("# Bash Tool\n\n{SHORT}.\n");
    if let Some(name) = facts.username {
        text.push_str(&format!("Home: /home/{name}\n"));
    }
    text.push_str("\nInput: {\"commands\": \"<bash commands>\"}\n");
    text.push_str("Output: {stdout, stderr, exit_code}\n");
    text
}

/// Writes the manual page.
pub(super) fn help(facts: &Facts<'_>) -> String {
    let mut text = MANUAL.replace("@BUILTINS@", &wrapped(facts.commands));
    let mut lines = Vec::new();
    if let Some(name) = facts.username {
        lines.push(format!("User: {name} (whoami)"));
    }
    if let Some(name) = facts.hostname {
        lines.push(format!("Host: {name} (hostname)"));
    }
    if let Some(limits) = facts.limits {
        lines.push(format!(
            "Limits: {} commands, {} iterations, {} depth",
            limits.commands, limits.loops, limits.depth
        ));
    }
    if !facts.env.is_empty() {
        lines.push(format!("Environment: {}", facts.env.join(", ")));
    }
    if !lines.is_empty() {
        text.push_str("\nCONFIGURATION\n");
        for line in lines {
            text.push_str(&format!("       {line}\n"));
        }
    }
    text
}

/// Sets words with commas between them into lines of a manual page.
fn wrapped(words: &[String]) -> String {
    const INDENT: &str = "       ";
    const WIDTH: usize = 78;
    let mut lines = vec![INDENT.to_owned()];
    for (at, word) in words.iter().enumerate() {
        let comma = if at + 1 < words.len() { "," } else { "" };
        let Some(line) = lines.last_mut() else { break };
        let is_start = line.len() == INDENT.len();
        let space = if is_start { "" } else { " " };
        if !is_start && line.len() + 1 + word.len() + comma.len() > WIDTH {
            lines.push(format!("{INDENT}{word}{comma}"));
        } else {
            line.push_str(&format!("{space}{word}{comma}"));
        }
    }
    lines.join("\n")
}
