//! Writes that survive a crash: every write and rename of this crate goes through here.
