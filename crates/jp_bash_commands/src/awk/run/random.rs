//! Random numbers: the same sequence on every run until `srand`, as awk promises.

/// A small generator (xorshift64*).
pub(super) struct Random {
    state: u64,
    seed: f64,
}

impl Default for Random {
    fn default() -> Self {
        let mut random = Self {
            state: 1,
            seed: 1.0,
        };
        random.seed(1.0);
        random
    }
}

impl Random {
    /// Starts a sequence; returns the seed of the one before.
    pub(super) fn seed(&mut self, seed: f64) -> f64 {
        // Close seeds must not give close sequences: the bits are stirred first.
        let mut state = seed.to_bits().wrapping_add(0x9e37_79b9_7f4a_7c15);
        state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        self.state = u64::max(state ^ (state >> 31), 1);
        std::mem::replace(&mut self.seed, seed)
    }

    /// Returns the next number, at least 0 and below 1.
    pub(super) fn next(&mut self) -> f64 {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        let bits = self.state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11;
        #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
        let num = bits as f64;
        num / 9_007_199_254_740_992.0
    }
}
