//! What a running program sees of the outside: its inputs, its environment, its patterns, the budget.

use jp_bash_system::Stop;

use super::fail::{Fail, Result};
use super::fuel::Fuel;
use super::input::{Inputs, Trouble};
use super::json;
use super::value::Value;

/// The surroundings of a program.
pub(super) struct World<'s> {
    pub(super) fuel: Fuel<'s>,
    pub(super) inputs: Inputs,
    /// Patterns that were compiled, the oldest first.
    pub(super) regexes: Vec<super::native::Pattern>,
    /// Directories that modules are looked for in.
    pub(super) search: Vec<Vec<u8>>,
    environment: Option<Value>,
}

impl<'s> World<'s> {
    pub(super) fn new(fuel: Fuel<'s>, inputs: Inputs, search: Vec<Vec<u8>>) -> Self {
        Self {
            fuel,
            inputs,
            regexes: Vec::new(),
            search,
            environment: None,
        }
    }

    /// Returns the next input; a text that does not parse is an error of the program.
    pub(super) fn next_input(&mut self) -> Result<Option<Value>> {
        match self.inputs.next(&mut self.fuel) {
            Ok(next) => Ok(next),
            Err(Trouble::Fail(fail)) => Err(fail),
            Err(Trouble::Parse(message)) => Err(Fail::Error(Value::string(message.as_bytes()))),
        }
    }

    /// Returns the exported variables of the script as an object.
    pub(super) fn environment(&mut self) -> Result<Value> {
        if let Some(known) = &self.environment {
            return Ok(known.clone());
        }
        let known = environment(&mut self.fuel)?;
        Ok(self.environment.insert(known).clone())
    }

    pub(super) fn search_list(&self) -> Value {
        Value::array(
            self.search
                .iter()
                .map(|path| Value::String(json::lossy(path)))
                .collect(),
        )
    }
}

/// Makes an object of the exported variables of the script.
pub(super) fn environment(fuel: &mut Fuel<'_>) -> std::result::Result<Value, Stop> {
    let exported = fuel.sys.environ()?.into_iter();
    Ok(Value::object(exported.map(|(name, value)| {
        (json::lossy(&name), Value::String(json::lossy(&value)))
    })))
}
