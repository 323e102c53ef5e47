//! The second wall: Landlock with the same rules as the new root. It mounts nothing.

use std::{error::Error, os::fd::AsFd, path::Path};

use landlock::{
    ABI, Access as _, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetStatus, Scope,
};

use super::{
    places::{Access, Place},
    setup,
};
use crate::wire::Failure;

/// The newest rules known here; an older kernel enforces those it has.
const NEWEST: ABI = ABI::V9;

/// Restricts this process, and all it starts, to the places. Runs inside the new root.
pub(super) fn restrict_to(places: &[Place]) -> Result<(), Failure> {
    let hint = "use Linux 5.13 or newer, with `landlock` in the `lsm=` list of its command line";
    let status = ruleset(places)
        .and_then(|rules| Ok(rules.restrict_self()?))
        .map_err(|error| setup(&format!("restrict files with Landlock: {error}"), hint))?;
    if status.ruleset == RulesetStatus::NotEnforced || !status.no_new_privs {
        return Err(setup("Landlock is not enforced", hint));
    }
    Ok(())
}

fn ruleset(places: &[Place]) -> Result<RulesetCreated, Box<dyn Error>> {
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(ABI::V1))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?
        .create()?;
    let read = AccessFs::from_read(NEWEST);
    // A socket in a granted directory belongs to a process outside, so it is never granted.
    let write = AccessFs::from_all(NEWEST) & !BitFlags::from(AccessFs::ResolveUnix);
    // Names alone are not secret: the root holds only what was granted.
    rules = rules.add_rule(PathBeneath::new(PathFd::new("/")?, AccessFs::ReadDir))?;
    if places.iter().all(|place| place.path != Path::new("/tmp")) {
        rules = rules.add_rule(PathBeneath::new(PathFd::new("/tmp")?, write))?;
    }
    if let Ok(proc) = PathFd::new("/proc") {
        rules = rules.add_rule(PathBeneath::new(proc, read))?;
    }
    for place in places {
        let access = match place.access {
            Access::Read => read,
            Access::Write => write,
            Access::Device => AccessFs::ReadFile | AccessFs::WriteFile,
        };
        let access = if place.is_dir {
            access
        } else {
            access & AccessFs::from_file(NEWEST)
        };
        // The descriptor was opened before the program could touch anything, so the rule is for
        // what was granted even if the name leads elsewhere by now.
        rules = rules.add_rule(PathBeneath::new(place.source.as_fd(), access))?;
    }
    Ok(rules)
}
