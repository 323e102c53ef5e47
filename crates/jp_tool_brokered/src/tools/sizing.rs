//! How large a piece of work is: the fields that to-dos and steps of plans share.

use super::ranges;
use crate::tool::{Argument, Kind, optional};

pub(super) const T_SHIRT_SIZE: Argument = optional(
    "t_shirt_size",
    Kind::Word(&["XS", "S", "M", "L", "XL"]),
    "Rough size of the work",
);

pub(super) const STORY_POINTS: Argument =
    optional("story_points", ranges::POINTS, "Size of the work in points");

pub(super) const OPTIMISTIC: Argument = optional(
    "estimate_optimistic_minutes",
    ranges::MINUTES,
    "Minutes it takes if all goes well",
);

pub(super) const LIKELY: Argument = optional(
    "estimate_likely_minutes",
    ranges::MINUTES,
    "Minutes it most likely takes",
);

pub(super) const PESSIMISTIC: Argument = optional(
    "estimate_pessimistic_minutes",
    ranges::MINUTES,
    "Minutes it takes if much goes wrong",
);

pub(super) const DEPENDENCY_REFS: Argument = optional(
    "dependency_refs",
    Kind::References,
    "What must be done before: ids or titles",
);
