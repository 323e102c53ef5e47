//! Builtins that reach outside the value: inputs, messages, the environment, the end of the run.

use jp_bash_system::SysError;

use super::{Entry, names, one, two};
use crate::jq::fail::{self, Fail, Result};
use crate::jq::value::Value;
use crate::jq::world::World;
use crate::jq::{ops, prelude, print};

pub(super) const TABLE: &[Entry] = &[
    ("input", 0, |world, _| match world.next_input()? {
        Some(value) => Ok(value),
        None => Err(fail::error("break")),
    }),
    ("debug", 0, |world, args| {
        let value = one(args);
        let mut line = b"[\"DEBUG:\",".to_vec();
        line.extend(print::to_json(&mut world.fuel, &value)?);
        line.extend_from_slice(b"]\n");
        tell(world, &line)?;
        Ok(value)
    }),
    ("stderr", 0, |world, args| {
        let value = one(args);
        let shown = match value.text() {
            Some(text) => text.to_vec(),
            None => print::to_json(&mut world.fuel, &value)?,
        };
        tell(world, &shown)?;
        Ok(value)
    }),
    ("input_filename", 0, |world, _| {
        Ok(world
            .inputs
            .file_name()
            .map(Value::string)
            .unwrap_or_default())
    }),
    ("input_line_number", 0, |world, _| {
        Ok(Value::count(world.inputs.lines()))
    }),
    ("env", 0, |world, _| world.environment()),
    ("halt", 0, |_, _| {
        Err(Fail::Halt {
            status: 0,
            message: None,
        })
    }),
    ("halt_error", 0, |_, args| {
        Err(Fail::Halt {
            status: 5,
            message: Some(one(args)),
        })
    }),
    ("halt_error", 1, |_, args| {
        let (value, status) = two(args);
        match status.number() {
            Some(status) => Err(Fail::Halt {
                status: i32::try_from(ops::integer(status) & 0xff).unwrap_or(5),
                message: Some(value),
            }),
            None => Err(fail::error("halt_error/1: number required")),
        }
    }),
    ("builtins", 0, |_, _| {
        let all = names()
            .filter(|(name, _)| !name.starts_with('_'))
            .map(|(name, arity)| format!("{name}/{arity}"))
            .chain(prelude::names());
        Ok(Value::array(
            all.map(|name| Value::string(name.as_bytes())).collect(),
        ))
    }),
    ("get_search_list", 0, |world, _| Ok(world.search_list())),
    ("have_literal_numbers", 0, |_, _| Ok(Value::Bool(true))),
    ("have_decnum", 0, |_, _| Ok(Value::Bool(false))),
];

/// Writes on standard error.
fn tell(world: &mut World<'_>, text: &[u8]) -> Result<()> {
    world.fuel.sync()?;
    match world.fuel.sys.write(2, text) {
        Err(SysError::Stop(stop)) => Err(stop.into()),
        _ => Ok(()),
    }
}
