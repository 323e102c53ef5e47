//! The one set of limits of scripts: those of all tools, in the units that the virtual bash counts.

use std::time::Duration;

use jp_bash::Bounds;
use jp_policy::Limits;

/// Fuel that counts as one command or one turn of a loop: both take about as long.
const FUEL_PER_STEP: u64 = 1_000;

/// Returns the budget that limits stand for; `docs/features/bash.md` has the same as a table.
#[must_use]
pub fn bounds(limits: &Limits) -> Bounds {
    let most = Bounds::default();
    let steps = |most: u64| {
        let fuel = limits.fuel.map(|fuel| (fuel / FUEL_PER_STEP).max(1));
        fuel.map_or(most, |steps| steps.min(most))
    };
    Bounds {
        commands: steps(most.commands),
        loops: steps(most.loops),
        output: limits.output_bytes,
        memory: limits.memory_bytes,
        time: limits.time.max(Duration::from_millis(1)),
        ..most
    }
}
