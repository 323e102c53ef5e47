//! What a guest has without opening anything: variables, clocks, randomness, its own end.

use wasmtime::Caller;
use wasmtime_wasi::{
    I32Exit, WasiView,
    clocks::WasiClocksView,
    p2::bindings::{
        clocks::{monotonic_clock, wall_clock},
        random::random::Host as _,
    },
};

use super::{
    Call,
    errno::{Answer, Errno},
};
use crate::host::State;

/// Ends the guest, as itself wished.
pub(super) fn exit(_: Caller<'_, State>, code: u32) -> wasmtime::Result<()> {
    Err(I32Exit(code.cast_signed()).into())
}

/// A clock that preview 1 knows and we have.
#[derive(Clone, Copy)]
pub(super) enum Clock {
    Real,
    Monotonic,
}

impl Clock {
    pub(super) fn of(number: u32) -> Answer<Self> {
        match number {
            0 => Ok(Self::Real),
            1 => Ok(Self::Monotonic),
            // Of the processor, which nobody measures here.
            _ => Err(Errno::INVAL.into()),
        }
    }
}

impl Call<'_> {
    /// Returns the time in nanoseconds.
    pub(super) fn now(&mut self, clock: Clock) -> Answer<u64> {
        let mut clocks = self.state.clocks();
        Ok(match clock {
            Clock::Real => nanoseconds(wall_clock::Host::now(&mut clocks)?),
            Clock::Monotonic => monotonic_clock::Host::now(&mut clocks)?,
        })
    }

    pub(super) fn clock_time_get(&mut self, clock: u32, _: u64, at: u32) -> Answer {
        let now = self.now(Clock::of(clock)?)?;
        self.memory.put_u64(at, now)
    }

    pub(super) fn clock_res_get(&mut self, clock: u32, at: u32) -> Answer {
        let clock = Clock::of(clock)?;
        let mut clocks = self.state.clocks();
        let step = match clock {
            Clock::Real => nanoseconds(wall_clock::Host::resolution(&mut clocks)?),
            Clock::Monotonic => monotonic_clock::Host::resolution(&mut clocks)?,
        };
        self.memory.put_u64(at, step)
    }

    pub(super) fn random_get(&mut self, at: u32, len: u32) -> Answer {
        self.memory.get(at, len)?;
        let random = self.state.ctx().ctx.random();
        let bytes = random.get_random_bytes(len.into())?;
        self.memory.put(at, &bytes)
    }

    pub(super) fn args_sizes_get(&mut self, count: u32, size: u32) -> Answer {
        self.memory.put_u32(count, 0)?;
        self.memory.put_u32(size, 0)
    }

    pub(super) fn args_get(&mut self, _: u32, _: u32) -> Answer {
        // Arguments come on standard input.
        Ok(())
    }

    pub(super) fn environ_sizes_get(&mut self, count: u32, size: u32) -> Answer {
        let all = self.state.surroundings.env();
        // Each with a `=` and a zero.
        let bytes: usize = all
            .iter()
            .map(|(name, value)| name.len() + value.len() + 2)
            .sum();
        let (number, bytes) = (fit(all.len())?, fit(bytes)?);
        self.memory.put_u32(count, number)?;
        self.memory.put_u32(size, bytes)
    }

    pub(super) fn environ_get(&mut self, list: u32, text: u32) -> Answer {
        let (mut list, mut text) = (list, text);
        for (name, value) in self.state.surroundings.env() {
            let variable = format!("{name}={value}\0");
            self.memory.put_u32(list, text)?;
            self.memory.put(text, variable.as_bytes())?;
            list = list.checked_add(4).ok_or(Errno::OVERFLOW)?;
            text = text
                .checked_add(fit(variable.len())?)
                .ok_or(Errno::OVERFLOW)?;
        }
        Ok(())
    }

    pub(super) fn sched_yield(&mut self) -> Answer {
        Ok(())
    }

    pub(super) fn proc_raise(&mut self, _: u32) -> Answer {
        Err(Errno::NOTSUP.into())
    }

    pub(super) fn sock_accept(&mut self, fd: u32, _: u32, _: u32) -> Answer {
        self.refuse_socket(fd)
    }

    pub(super) fn sock_recv(&mut self, fd: u32, _: u32, _: u32, _: u32, _: u32, _: u32) -> Answer {
        self.refuse_socket(fd)
    }

    pub(super) fn sock_send(&mut self, fd: u32, _: u32, _: u32, _: u32, _: u32) -> Answer {
        self.refuse_socket(fd)
    }

    pub(super) fn sock_shutdown(&mut self, fd: u32, _: u32) -> Answer {
        self.refuse_socket(fd)
    }

    /// Nothing a guest can open is a socket.
    fn refuse_socket(&mut self, fd: u32) -> Answer {
        self.fds()?.get(fd)?;
        Err(Errno::NOTSOCK.into())
    }
}

fn fit(size: usize) -> Answer<u32> {
    Ok(u32::try_from(size).map_err(|_| Errno::OVERFLOW)?)
}

const fn nanoseconds(time: wall_clock::Datetime) -> u64 {
    let whole = time.seconds.saturating_mul(1_000_000_000);
    whole.saturating_add(time.nanoseconds as u64)
}
