//! What a guest has around it without opening anything: variables, clocks, randomness, standard
//! streams. Each can be taken away; what stands in its place is decided here and nowhere else.

use std::time::Duration;

use jp_policy::Ambient;
use wasmtime_wasi::{
    HostMonotonicClock, HostWallClock, WasiCtx, WasiCtxBuilder, random::Deterministic,
};

use crate::{
    host::{State, WasiContext},
    output::Made,
};

/// Bytes of randomness one host call may ask for.
const MAX_RANDOM: u64 = 1024 * 1024;

/// Bytes after which numbers that are not random start again.
const PERIOD: usize = 4096;

/// What those numbers are made of; a change of it changes what such guests compute.
const SEED: &[u8] = b"jp: these numbers are not random";

/// The variables and the ambient capabilities of one call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Surroundings {
    env: Vec<(String, String)>,
    ambient: Ambient,
}

impl Surroundings {
    /// Returns the variables.
    pub(crate) fn env(&self) -> &[(String, String)] {
        &self.env
    }

    /// Whether there is somebody to print for.
    pub(crate) const fn has_stdio(&self) -> bool {
        self.ambient.stdio
    }

    /// Starts a WASI context with these and no other authority.
    pub(crate) fn wasi_builder(&self, streams: &Made) -> WasiCtxBuilder {
        let mut wasi = WasiCtx::builder();
        wasi.allow_tcp(false)
            .allow_udp(false)
            .allow_ip_name_lookup(false)
            .max_random_size(MAX_RANDOM)
            .envs(&self.env);
        if self.ambient.stdio {
            // Without these wasmtime discards what is printed.
            wasi.stdout(streams.stdout.clone())
                .stderr(streams.stderr.clone());
        }
        if !self.ambient.clocks {
            // Waiting for a duration does not ask the clock, so it still ends.
            wasi.wall_clock(Still).monotonic_clock(Still);
        }
        if !self.ambient.random {
            let mut bytes = vec![0; PERIOD];
            blake3::Hasher::new()
                .update(SEED)
                .finalize_xof()
                .fill(&mut bytes);
            wasi.secure_random(Deterministic::new(bytes.clone()))
                .insecure_random(Deterministic::new(bytes))
                .insecure_random_seed(0);
        }
        wasi
    }
}

impl State {
    /// Gives a guest what its call says it finds around it.
    ///
    /// A spare was made with the default, has never looked (else it would be no spare), and is
    /// told here, so nothing of one call is seen by another.
    pub(crate) fn surround(&mut self, with: &WasiContext) {
        self.files.timeless = !with.ambient.clocks;
        if self.surroundings.env == with.env && self.surroundings.ambient == with.ambient {
            return;
        }
        self.set_surroundings(Surroundings {
            env: with.env.clone(),
            ambient: with.ambient,
        });
    }
}

/// A clock that stands still.
struct Still;

impl HostWallClock for Still {
    fn resolution(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn now(&self) -> Duration {
        Duration::ZERO
    }
}

impl HostMonotonicClock for Still {
    fn resolution(&self) -> u64 {
        1_000_000_000
    }

    fn now(&self) -> u64 {
        0
    }
}
