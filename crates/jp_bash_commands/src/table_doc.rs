//! The documentation's table of commands and options, made from the tables that read the options.

use super::options::{Opt, Support, shown};
use super::{Spec, table};

/// Returns a markdown table of all commands: what each does, its options, and which of them it refuses.
pub fn command_table() -> String {
    options_table(&table::all())
}

/// Writes a markdown table: a command in each line, what is done, what is refused and why.
fn options_table(specs: &[&Spec]) -> String {
    let mut out =
        String::from("| Command | What it does | Options | Refused |\n|---|---|---|---|\n");
    for spec in specs {
        let done: Vec<String> = spec
            .options
            .iter()
            .filter(|opt| opt.support == Support::Done)
            .map(code)
            .collect();
        let refused: Vec<String> = spec
            .options
            .iter()
            .filter_map(|opt| match opt.support {
                Support::Refused(why) => Some(format!("{} ({})", code(opt), cell(why))),
                _ => None,
            })
            .collect();
        out.push_str(&format!(
            "| `{}` | {} | {} | {} |\n",
            spec.name,
            cell(spec.about),
            done.join(" "),
            refused.join(", ")
        ));
    }
    out
}

fn code(opt: &Opt) -> String {
    format!("`{}`", shown(opt).replace('|', "\\|"))
}

/// A bar would end the cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{Takes, hidden, opt, refused};
    use jp_bash_system::{Stop, System};

    fn run(_: &mut dyn System, _: &[Vec<u8>]) -> Result<i32, Stop> {
        Ok(0)
    }

    #[test]
    fn table_names_what_is_done_and_what_is_refused() {
        const OPTIONS: &[Opt] = &[
            opt('n', Some(b'n'), Some("lines"), Takes::Required),
            opt('c', None, Some("color"), Takes::Optional),
            hidden(b'y', Takes::Nothing),
            refused(None, Some("debug"), Takes::Nothing, "no such view"),
        ];
        let spec = Spec {
            name: "demo",
            about: "Shows a|b.",
            run,
            options: OPTIONS,
        };
        insta::assert_snapshot!(options_table(&[&spec]), @r"
        | Command | What it does | Options | Refused |
        |---|---|---|---|
        | `demo` | Shows a\|b. | `-n, --lines=ARG` `--color[=ARG]` | `--debug` (no such view) |
        ");
    }
}
