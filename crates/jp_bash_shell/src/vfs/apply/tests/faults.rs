//! Every system call of an apply and of a recovery fails once, or is the last one: the host has the old tree or the
//! new one.

use std::cell::Cell;
use std::io;

use super::super::disk::Call;
use super::super::recover::recover;
use super::world::{Dice, Picture, host_picture, overlay_picture, plant, scribble};
use super::*;

/// How a disk fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    /// One call fails and has done nothing.
    Once,
    /// One call says that it failed, though it did what it should.
    Lied,
    /// From one call on, nothing can be made or written.
    Full,
    /// From one call on, everything fails.
    Broken,
    /// The process is killed.
    Killed,
}

/// Fails at a chosen call.
struct Faulty {
    how: How,
    at: u32,
    /// Whether the file system can swap names.
    swaps: bool,
    calls: Cell<u32>,
}

impl Faulty {
    fn new(how: How, at: u32, swaps: bool) -> Self {
        Self {
            how,
            at,
            swaps,
            calls: Cell::new(0),
        }
    }

    fn was_hit(&self) -> bool {
        self.calls.get() > self.at
    }
}

impl Gate for Faulty {
    fn before(&self, call: Call) -> io::Result<()> {
        let number = self.calls.get();
        self.calls.set(number + 1);
        let full = || io::Error::from_raw_os_error(28);
        match self.how {
            How::Once if number == self.at => return Err(io::Error::from_raw_os_error(5)),
            How::Full if number >= self.at && call == Call::Fill => return Err(full()),
            How::Broken | How::Killed if number >= self.at => {
                return Err(io::Error::from_raw_os_error(5));
            }
            _ => {}
        }
        match call {
            Call::Swap if !self.swaps => Err(io::Error::from_raw_os_error(22)),
            _ => Ok(()),
        }
    }

    fn syncs(&self) -> bool {
        false
    }

    fn after(&self, _call: Call) -> io::Result<()> {
        match self.how == How::Lied && self.calls.get() == self.at + 1 {
            true => Err(io::Error::from_raw_os_error(5)),
            false => Ok(()),
        }
    }
}

/// One random tree with random changes.
struct World {
    dir: tempfile::TempDir,
    files: Files,
    old: Picture,
    new: Picture,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let dir = tempfile::tempdir().unwrap();
        plant(dir.path(), &mut dice);
        let mut files = mount(dir.path());
        scribble(&mut files, &mut dice);
        Self {
            old: host_picture(dir.path()),
            new: overlay_picture(&mut files),
            dir,
            files,
        }
    }

    fn apply(&mut self, gate: &dyn Gate) -> Result<Applied, ApplyError> {
        let host = HostDir::open(self.dir.path()).unwrap();
        let options = ApplyOptions::default();
        self.files
            .call(|vfs, caller| vfs.apply_through(gate, caller, b"/w", &host, options))
    }

    fn recover(&self, gate: &dyn Gate) -> Result<Option<Recovered>, RecoverError> {
        let host = HostDir::open(self.dir.path()).unwrap();
        recover(&Disk::new(gate), host.dir())
    }

    fn is_old_or_new(&self, context: &str) {
        let now = host_picture(self.dir.path());
        assert!(
            now == self.old || now == self.new,
            "{context}\nnow {now:?}\nold {:?}\nnew {:?}",
            self.old,
            self.new
        );
        assert!(!has_area(self.dir.path()), "{context}");
    }
}

/// Lets every call of an apply fail in one way, over one random tree.
fn fail_everywhere(seed: u64, how: How, swaps: bool) {
    for at in 0.. {
        let context = format!("seed {seed}, {how:?} at {at}, swaps {swaps}");
        let mut world = World::new(seed);
        let gate = Faulty::new(how, at, swaps);
        let result = world.apply(&gate);
        let now = host_picture(world.dir.path());
        if !gate.was_hit() {
            result.unwrap_or_else(|error| panic!("{context}: {error}"));
            assert!(now == world.new, "{context}\n{now:?}\n{:?}", world.new);
            assert!(!has_area(world.dir.path()), "{context}");
            assert!(
                at > 20 || world.old == world.new,
                "{context}: too few calls"
            );
            return;
        }
        match (&result, how) {
            (Ok(_), How::Once | How::Lied | How::Full | How::Broken) => {
                assert!(now == world.new, "{context}");
            }
            // A disk that has failed for good, or a process that is dead, leaves it to the recovery.
            (Err(_), How::Broken) | (_, How::Killed) => {}
            (Err(error), _) => {
                let left = matches!(error, ApplyError::Unfinished { .. });
                assert!(!left, "{context}: {error}");
                assert!(
                    now == world.old,
                    "{context}: {error}\n{now:?}\n{:?}",
                    world.old
                );
            }
        }
        world
            .recover(&Through)
            .unwrap_or_else(|error| panic!("{context}: {error}"));
        world.is_old_or_new(&context);
        let after = host_picture(world.dir.path());
        match (result, how) {
            (Ok(_), How::Killed) => {}
            (Ok(_), _) => assert!(after == world.new, "{context}"),
            (Err(ApplyError::Unfinished { .. }), _) | (Err(_), How::Killed) => {}
            (Err(_), _) => assert!(after == world.old, "{context}"),
        }
    }
}

#[test]
fn an_error_of_any_call_leaves_the_old_tree_at_once() {
    for seed in 1..6 {
        fail_everywhere(seed, How::Once, true);
    }
    fail_everywhere(6, How::Once, false);
}

#[test]
fn a_call_that_fails_after_it_was_done_leaves_the_old_tree_or_the_new_one_at_once() {
    for seed in 11..15 {
        fail_everywhere(seed, How::Lied, true);
    }
    fail_everywhere(16, How::Lied, false);
}

#[test]
fn a_disk_that_gets_full_at_any_call_leaves_the_old_tree_at_once() {
    for seed in 21..26 {
        fail_everywhere(seed, How::Full, true);
    }
}

#[test]
fn a_disk_that_fails_for_good_at_any_call_leaves_what_the_recovery_makes_whole() {
    for seed in 31..35 {
        fail_everywhere(seed, How::Broken, true);
    }
}

#[test]
fn a_kill_at_any_call_leaves_what_the_recovery_makes_whole() {
    for seed in 41..46 {
        fail_everywhere(seed, How::Killed, true);
    }
    fail_everywhere(46, How::Killed, false);
}

#[test]
fn a_kill_at_any_call_of_a_recovery_is_recovered_too() {
    for seed in 51..54 {
        let swaps = seed != 53;
        let mut first = 0;
        loop {
            let mut again = 0;
            loop {
                let context = format!("seed {seed}, killed at {first}, then at {again}");
                let mut world = World::new(seed);
                let gate = Faulty::new(How::Killed, first, swaps);
                let done = world.apply(&gate).is_ok() && !gate.was_hit();
                let gate = Faulty::new(How::Killed, again, swaps);
                let recovered = world.recover(&gate);
                if !gate.was_hit() {
                    recovered.unwrap_or_else(|error| panic!("{context}: {error}"));
                }
                world
                    .recover(&Through)
                    .unwrap_or_else(|error| panic!("{context}: {error}"));
                world.is_old_or_new(&context);
                assert!(first < 2_000 || done, "{context}: an apply has no end");
                if done {
                    first = u32::MAX;
                }
                if !gate.was_hit() {
                    break;
                }
                again += 1;
            }
            if first == u32::MAX {
                break;
            }
            // Every tenth call of the apply, every call of the recovery.
            first += 10;
        }
    }
}
