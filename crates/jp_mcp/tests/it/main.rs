//! The client against real processes: a server that the tests bring along, confined as in use.
#![cfg(target_os = "linux")]

mod calls;
mod kit;
mod lists;
mod starts;
mod walls;
