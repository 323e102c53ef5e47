//! `-t` and `-T`: tools that are turned on and off, in the order in which they are typed.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use jp_llm::{Selection, Toggle, ToolDefinition, ToolError};

use crate::error::CliError;

/// The options, by name: what turns on, and what turns off.
const ON: &str = "tool";
const OFF: &str = "no-tool";

/// What the command line turns on and off.
#[derive(Debug, Clone, Default)]
pub(crate) struct Toggles(Vec<Toggle>);

impl Toggles {
    /// Returns whether anything is turned on or off.
    pub(crate) const fn are_set(&self) -> bool {
        !self.0.is_empty()
    }

    /// Returns what models are offered then.
    pub(crate) fn selection(&self) -> Selection {
        Selection::new(self.0.iter().cloned())
    }

    /// Refuses names that stand for no tool, and tools that cannot be turned by name.
    pub(crate) fn check(
        &self,
        tools: &[(String, Result<ToolDefinition, ToolError>)],
    ) -> Result<(), CliError> {
        let selection = self.selection();
        for name in selection.names() {
            match tools.iter().find(|(known, _)| known == name) {
                None => {
                    return Err(ToolError::not_found(name).into());
                }
                Some((_, Ok(tool))) => {
                    let checked = selection.check(name, tool.enable());
                    checked.map_err(|error| CliError::usage(error.to_string()))?;
                }
                Some((_, Err(_))) => {}
            }
        }
        Ok(())
    }
}

impl FromArgMatches for Toggles {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut toggles = Self::default();
        toggles.update_from_arg_matches(matches)?;
        Ok(toggles)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        let typed = |id: &str, make: fn(Option<String>) -> Toggle| {
            let places = matches.indices_of(id).into_iter().flatten();
            let names = matches.get_many::<String>(id).into_iter().flatten();
            let toggles = places.zip(names).map(move |(place, name)| {
                let name = Some(name.clone()).filter(|name| !name.is_empty());
                (place, make(name))
            });
            toggles.collect::<Vec<_>>()
        };
        let mut all = [typed(ON, Toggle::On), typed(OFF, Toggle::Off)].concat();
        all.sort_by_key(|(place, _)| *place);
        self.0 = all.into_iter().map(|(_, toggle)| toggle).collect();
        Ok(())
    }
}

impl Args for Toggles {
    fn augment_args(command: Command) -> Command {
        let option = |id: &'static str, short: char, help: &'static str| {
            Arg::new(id)
                .short(short)
                .long(id)
                .value_name("NAME")
                .num_args(0..=1)
                .default_missing_value("")
                .action(ArgAction::Append)
                .help(help)
        };
        command
            .arg(option(
                ON,
                't',
                "Turn on a tool, or all that can be together (may be repeated)",
            ))
            .arg(option(
                OFF,
                'T',
                "Turn off a tool, or all that can be (may be repeated)",
            ))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}
