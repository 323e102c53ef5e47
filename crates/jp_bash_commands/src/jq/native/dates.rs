//! Dates: broken-down times as jq's arrays, `strftime` and `strptime`, without the host's clock or zone.

use super::{Entry, one, two};
use crate::jq::dates::{self, Broken};
use crate::jq::fail::{self, Result};
use crate::jq::ops;
use crate::jq::value::{Array, Value};
use crate::jq::world::World;

pub(super) const TABLE: &[Entry] = &[
    ("now", 0, |world, _| {
        let now = world.fuel.sys.now();
        #[expect(clippy::cast_precision_loss, reason = "jq's numbers are doubles")]
        let secs = now.secs as f64;
        Ok(Value::Number(secs + f64::from(now.nanos) / 1e9))
    }),
    ("mktime", 0, |_, args| {
        let Value::Array(parts) = one(args) else {
            return Err(fail::error("mktime requires array inputs"));
        };
        let broken =
            read(&parts).ok_or_else(|| fail::error("mktime requires parsed datetime inputs"))?;
        #[expect(clippy::cast_precision_loss, reason = "jq's numbers are doubles")]
        let seconds = dates::seconds(&broken) as f64;
        Ok(Value::Number(seconds))
    }),
    ("gmtime", 0, |_, args| match one(args).number() {
        Some(time) => Ok(show(&dates::broken(time), time)),
        None => Err(fail::error("gmtime() requires numeric inputs")),
    }),
    ("localtime", 0, |world, args| match one(args).number() {
        Some(time) => {
            let (offset, zone) = dates::zone(world.fuel.sys, time);
            let mut broken = dates::broken(time + f64::from(offset));
            broken.zone = zone;
            Ok(show(&broken, time))
        }
        None => Err(fail::error("localtime() requires numeric inputs")),
    }),
    ("strftime", 1, |world, args| format(world, args, false)),
    ("strflocaltime", 1, |world, args| format(world, args, true)),
    ("strptime", 1, |_, args| {
        let (text, pattern) = two(args);
        let (Value::String(text), Value::String(pattern)) = (&text, &pattern) else {
            return Err(fail::error(
                "strptime/1 requires string inputs and arguments",
            ));
        };
        match dates::parse(text, pattern) {
            Some(broken) => Ok(show(&broken, broken.seconds)),
            None => Err(fail::error(format!(
                "date \"{}\" does not match format \"{}\"",
                text.as_str(),
                pattern.as_str()
            ))),
        }
    }),
];

fn read(parts: &Array) -> Option<Broken> {
    if parts.len() < 6 {
        return None;
    }
    let part = |at: usize| parts.get(at).and_then(Value::number).map(ops::integer);
    let optional = |at: usize| if parts.len() > at { part(at) } else { Some(0) };
    Some(Broken {
        year: part(0)?,
        month: part(1)?,
        day: part(2)?,
        hour: part(3)?,
        minute: part(4)?,
        seconds: parts.get(5)?.number()?,
        week_day: optional(6)?,
        year_day: optional(7)?,
        zone: "UTC".to_owned(),
        offset: 0,
    })
}

/// Makes the array; the seconds keep the fraction of the time.
fn show(broken: &Broken, time: f64) -> Value {
    let fraction = time - time.floor();
    #[expect(clippy::cast_precision_loss, reason = "jq's numbers are doubles")]
    let number = |n: i64| Value::Number(n as f64);
    Value::array(vec![
        number(broken.year),
        number(broken.month),
        number(broken.day),
        number(broken.hour),
        number(broken.minute),
        Value::Number(broken.seconds.floor() + fraction),
        number(broken.week_day),
        number(broken.year_day),
    ])
}

fn format(world: &mut World<'_>, args: &mut [Value], local: bool) -> Result<Value> {
    let (value, pattern) = two(args);
    let name = if local {
        "strflocaltime/1"
    } else {
        "strftime/1"
    };
    let broken = match (&value, value.number()) {
        (_, Some(time)) if local => {
            let (offset, zone) = dates::zone(world.fuel.sys, time);
            let mut broken = dates::broken(time + f64::from(offset));
            broken.zone = zone;
            broken.offset = offset;
            Some(broken)
        }
        (_, Some(time)) => Some(dates::broken(time)),
        (Value::Array(parts), _) => {
            let mut broken = read(parts);
            if local && let Some(broken) = &mut broken {
                #[expect(
                    clippy::cast_precision_loss,
                    reason = "only the zone at that time is asked"
                )]
                let (offset, zone) = dates::zone(world.fuel.sys, dates::seconds(broken) as f64);
                broken.zone = zone;
                broken.offset = offset;
            }
            broken
        }
        _ => None,
    };
    let Some(broken) = broken else {
        return Err(fail::error(format!(
            "{name} requires parsed datetime inputs"
        )));
    };
    let Value::String(pattern) = &pattern else {
        return Err(fail::error(format!("{name} requires a string format")));
    };
    world.fuel.room(pattern.len().saturating_mul(16))?;
    Ok(Value::owned(dates::format(&broken, pattern)))
}
