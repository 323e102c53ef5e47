//! Waiting: for a time, or for streams and files, which are always ready.

use std::time::Duration;

use wasmtime_wasi::p2::bindings::filesystem::types::HostDescriptor;

use super::{
    Call,
    ambient::Clock,
    errno::{Answer, Errno, Refused},
    fds::{Fd, lend},
    memory::Memory,
};

/// What one call may wait for.
const MAX_SUBSCRIPTIONS: u32 = 1024;

/// Bytes of what a guest waits for, and of what it receives.
const SUBSCRIPTION: u32 = 48;
const EVENT: usize = 32;

/// Kinds of events.
const CLOCK: u8 = 0;
const FD_READ: u8 = 1;
const FD_WRITE: u8 = 2;

/// Something that happened.
struct Event {
    userdata: u64,
    errno: u16,
    kind: u8,
    /// Bytes that can be read.
    bytes: u64,
}

impl Event {
    fn encode(&self) -> [u8; EVENT] {
        let mut bytes = [0; EVENT];
        let words = [
            self.userdata,
            u64::from(self.errno) | u64::from(self.kind) << 16,
            self.bytes,
        ];
        for (word, value) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(words) {
            *word = value.to_le_bytes();
        }
        bytes
    }
}

/// A time that a guest waits for.
struct Timer {
    userdata: u64,
    left: Duration,
}

impl Call<'_> {
    pub(super) async fn poll_oneoff(&mut self, from: u32, to: u32, count: u32, at: u32) -> Answer {
        // Nothing at all would be waited for for ever.
        if count == 0 || count > MAX_SUBSCRIPTIONS {
            return Err(Errno::INVAL.into());
        }
        let mut list = self.memory.get(from, count * SUBSCRIPTION)?.to_vec();
        let list = Memory(&mut list);
        let (mut events, mut timers) = (Vec::new(), Vec::new());
        for start in (0..count).map(|n| n * SUBSCRIPTION) {
            let userdata = list.u64(start)?;
            match list.get(start + 8, 1)? {
                [CLOCK] => {
                    let left = self.left(&list, start)?;
                    timers.push(Timer { userdata, left });
                }
                [kind @ (FD_READ | FD_WRITE)] => {
                    let fd = list.u32(start + 16)?;
                    events.push(self.readiness(userdata, *kind, fd).await?);
                }
                _ => return Err(Errno::INVAL.into()),
            }
        }
        let wait = match timers.iter().map(|timer| timer.left).min() {
            Some(shortest) if events.is_empty() => shortest,
            _ => Duration::ZERO,
        };
        if wait.is_zero() {
            // A guest that polls in a loop gives others their turn.
            tokio::task::yield_now().await;
        } else {
            tokio::time::sleep(wait).await;
        }
        let over = timers.into_iter().filter(|timer| timer.left <= wait);
        events.extend(over.map(|timer| Event {
            userdata: timer.userdata,
            errno: 0,
            kind: CLOCK,
            bytes: 0,
        }));
        let told: Vec<u8> = events.iter().flat_map(Event::encode).collect();
        self.memory.put(to, &told)?;
        // As many as there are subscriptions, at most.
        let count = u32::try_from(events.len()).unwrap_or(count);
        self.memory.put_u32(at, count)
    }

    /// Returns how long it is until a time that a guest waits for.
    fn left(&mut self, list: &Memory<'_>, start: u32) -> Answer<Duration> {
        let clock = Clock::of(list.u32(start + 16)?)?;
        let time = list.u64(start + 24)?;
        let is_absolute = list.u16(start + 40)? & 1 == 1;
        let left = if is_absolute {
            time.saturating_sub(self.now(clock)?)
        } else {
            time
        };
        Ok(Duration::from_nanos(left))
    }

    async fn readiness(&mut self, userdata: u64, kind: u8, fd: u32) -> Answer<Event> {
        let ready = self.ready_bytes(kind, fd).await;
        let (errno, bytes) = match ready {
            Ok(bytes) => (0, bytes),
            Err(Refused::Errno(errno)) => (errno.0, 0),
            Err(stop) => return Err(stop),
        };
        Ok(Event {
            userdata,
            errno,
            kind,
            bytes,
        })
    }

    async fn ready_bytes(&mut self, kind: u8, fd: u32) -> Answer<u64> {
        match (self.fds()?.get(fd)?, kind) {
            (Fd::Stdin, FD_READ) => Ok(self.state.preview1.stdin.len() as u64),
            (Fd::File(file), FD_READ) => {
                let (handle, position) = (lend(&file.handle), file.position);
                let stat = self.state.guest_files().stat(handle).await?;
                Ok(stat.size.saturating_sub(position))
            }
            (Fd::Stdout | Fd::Stderr | Fd::File(_), FD_WRITE) => Ok(1),
            _ => Err(Errno::BADF.into()),
        }
    }
}
