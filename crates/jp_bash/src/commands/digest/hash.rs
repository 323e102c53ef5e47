//! MD5, SHA-1, SHA-256 and SHA-512 of bytes in memory. Knows no files.

/// Which digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Md5,
    Sha1,
    Sha256,
    Sha512,
}

impl Kind {
    pub(super) fn name(self) -> &'static [u8] {
        match self {
            Self::Md5 => b"MD5",
            Self::Sha1 => b"SHA1",
            Self::Sha256 => b"SHA256",
            Self::Sha512 => b"SHA512",
        }
    }

    /// Returns the length of the digest in hexadecimal.
    pub(super) fn digits(self) -> usize {
        match self {
            Self::Md5 => 32,
            Self::Sha1 => 40,
            Self::Sha256 => 64,
            Self::Sha512 => 128,
        }
    }
}

/// Returns the digest in hexadecimal.
pub(super) fn digest(kind: Kind, text: &[u8]) -> Vec<u8> {
    let bytes: Vec<u8> = match kind {
        Kind::Md5 => md5(text)
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect(),
        Kind::Sha1 => sha1(text)
            .iter()
            .flat_map(|word| word.to_be_bytes())
            .collect(),
        Kind::Sha256 => sha256(text)
            .iter()
            .flat_map(|word| word.to_be_bytes())
            .collect(),
        Kind::Sha512 => sha512(text)
            .iter()
            .flat_map(|word| word.to_be_bytes())
            .collect(),
    };
    let mut out = Vec::with_capacity(bytes.len() * 2);
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            out.push(
                b"0123456789abcdef"
                    .get(usize::from(digit))
                    .copied()
                    .unwrap_or(b'0'),
            );
        }
    }
    out
}

/// Calls `block` with each block of the padded text.
fn blocks(text: &[u8], size: usize, big: bool, mut block: impl FnMut(&[u8])) {
    let whole = text.len() - text.len() % size;
    for piece in text.get(..whole).unwrap_or_default().chunks(size) {
        block(piece);
    }
    let mut tail = text.get(whole..).unwrap_or_default().to_vec();
    tail.push(0x80);
    // The length in bits ends the last block: 8 bytes, or 16 in blocks of 128.
    while tail.len() % size != size - size / 8 {
        tail.push(0);
    }
    tail.extend(std::iter::repeat_n(0, size / 8 - 8));
    let bits = (text.len() as u64).wrapping_mul(8);
    tail.extend_from_slice(&if big {
        bits.to_be_bytes()
    } else {
        bits.to_le_bytes()
    });
    for piece in tail.chunks(size) {
        block(piece);
    }
}

fn words32(block: &[u8], big: bool) -> [u32; 16] {
    let mut words = [0; 16];
    for (word, four) in words.iter_mut().zip(block.chunks(4)) {
        let mut bytes = [0; 4];
        for (slot, byte) in bytes.iter_mut().zip(four) {
            *slot = *byte;
        }
        *word = if big {
            u32::from_be_bytes(bytes)
        } else {
            u32::from_le_bytes(bytes)
        };
    }
    words
}

fn at<T: Copy + Default>(table: &[T], index: usize) -> T {
    table.get(index).copied().unwrap_or_default()
}

fn md5(text: &[u8]) -> [u32; 4] {
    const SHIFTS: [[u32; 4]; 4] = [
        [7, 12, 17, 22],
        [5, 9, 14, 20],
        [4, 11, 16, 23],
        [6, 10, 15, 21],
    ];
    // floor(|sin(i + 1)| * 2^32), as the definition of MD5 has it.
    let sines: Vec<u32> = (0..64_u32)
        .map(|i| {
            let value = (f64::from(i) + 1.0).sin().abs() * 4_294_967_296.0;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "it is below 2^32"
            )]
            let value = value as u32;
            value
        })
        .collect();
    let mut state = [0x6745_2301_u32, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    blocks(text, 64, false, |block| {
        let words = words32(block, false);
        let [mut a, mut b, mut c, mut d] = state;
        for i in 0..64 {
            let (mix, word) = match i / 16 {
                0 => ((b & c) | (!b & d), i),
                1 => ((d & b) | (!d & c), (5 * i + 1) % 16),
                2 => (b ^ c ^ d, (3 * i + 5) % 16),
                _ => (c ^ (b | !d), (7 * i) % 16),
            };
            let sum = a
                .wrapping_add(mix)
                .wrapping_add(at(&sines, i))
                .wrapping_add(at(&words, word));
            let shift = at(&at(&SHIFTS, i / 16), i % 4);
            (a, d, c, b) = (d, c, b, b.wrapping_add(sum.rotate_left(shift)));
        }
        for (slot, value) in state.iter_mut().zip([a, b, c, d]) {
            *slot = slot.wrapping_add(value);
        }
    });
    state
}

fn sha1(text: &[u8]) -> [u32; 5] {
    let mut state = [
        0x6745_2301_u32,
        0xefcd_ab89,
        0x98ba_dcfe,
        0x1032_5476,
        0xc3d2_e1f0,
    ];
    blocks(text, 64, true, |block| {
        let mut words = words32(block, true).to_vec();
        for i in 16..80 {
            let word =
                at(&words, i - 3) ^ at(&words, i - 8) ^ at(&words, i - 14) ^ at(&words, i - 16);
            words.push(word.rotate_left(1));
        }
        let [mut a, mut b, mut c, mut d, mut e] = state;
        for (i, word) in words.iter().enumerate() {
            let (mix, key) = match i / 20 {
                0 => ((b & c) | (!b & d), 0x5a82_7999_u32),
                1 => (b ^ c ^ d, 0x6ed9_eba1),
                2 => ((b & c) | (b & d) | (c & d), 0x8f1b_bcdc),
                _ => (b ^ c ^ d, 0xca62_c1d6),
            };
            let sum = a
                .rotate_left(5)
                .wrapping_add(mix)
                .wrapping_add(e)
                .wrapping_add(key)
                .wrapping_add(*word);
            (e, d, c, b, a) = (d, c, b.rotate_left(30), a, sum);
        }
        for (slot, value) in state.iter_mut().zip([a, b, c, d, e]) {
            *slot = slot.wrapping_add(value);
        }
    });
    state
}

/// The first primes, from whose roots the constants of SHA-2 come.
fn primes(count: usize) -> Vec<u64> {
    let mut found: Vec<u64> = Vec::with_capacity(count);
    let mut next = 2;
    while found.len() < count {
        if found.iter().all(|prime| next % prime != 0) {
            found.push(next);
        }
        next += 1;
    }
    found
}

/// Returns the first 64 bits of the fraction of the root (2: square, 3: cube) of a small number.
fn root_bits(number: u64, power: u32) -> u64 {
    // The largest x with x^power <= number * 2^(64 * power), found bit by bit in wide arithmetic.
    let mut low = 0_u128;
    for bit in (0..70).rev() {
        let next = low | 1 << bit;
        if fits(next, number, power) {
            low = next;
        }
    }
    let [.., a, b, c, d, e, f, g, h] = low.to_be_bytes();
    u64::from_be_bytes([a, b, c, d, e, f, g, h])
}

/// Tells whether `x^power <= number * 2^(64*power)`.
fn fits(x: u128, number: u64, power: u32) -> bool {
    let mut product = vec![1_u32];
    for _ in 0..power {
        product = multiply(&product, x);
    }
    let mut bound = vec![0_u32; 2 * power as usize];
    bound.push(u32::try_from(number).unwrap_or(0));
    while product.len() > bound.len() {
        if product.pop() != Some(0) {
            return false;
        }
    }
    bound.truncate(usize::max(bound.len(), product.len()));
    product.resize(bound.len(), 0);
    product.iter().rev().cmp(bound.iter().rev()) != std::cmp::Ordering::Greater
}

fn multiply(digits: &[u32], by: u128) -> Vec<u32> {
    let parts: Vec<u64> = (0..4)
        .map(|i| u64::try_from(by >> (32 * i) & 0xffff_ffff).unwrap_or(0))
        .collect();
    let mut out = vec![0_u32; digits.len() + 4];
    for (i, digit) in digits.iter().enumerate() {
        let mut carry = 0_u64;
        for (j, part) in parts.iter().enumerate() {
            let Some(slot) = out.get_mut(i + j) else {
                continue;
            };
            let sum = u64::from(*digit) * part + u64::from(*slot) + carry;
            *slot = u32::try_from(sum & 0xffff_ffff).unwrap_or(0);
            carry = sum >> 32;
        }
        if let Some(slot) = out.get_mut(i + parts.len()) {
            *slot = u32::try_from(carry).unwrap_or(0);
        }
    }
    out
}

fn high(value: u64) -> u32 {
    u32::try_from(value >> 32).unwrap_or(0)
}

fn sha256(text: &[u8]) -> [u32; 8] {
    static KEYS: std::sync::LazyLock<Vec<u32>> = std::sync::LazyLock::new(|| {
        primes(64)
            .into_iter()
            .map(|prime| high(root_bits(prime, 3)))
            .collect()
    });
    let mut state = [0_u32; 8];
    for (slot, prime) in state.iter_mut().zip(primes(8)) {
        *slot = high(root_bits(prime, 2));
    }
    blocks(text, 64, true, |block| {
        let mut words = words32(block, true).to_vec();
        for i in 16..64 {
            let (x, y) = (at(&words, i - 15), at(&words, i - 2));
            let s0 = x.rotate_right(7) ^ x.rotate_right(18) ^ (x >> 3);
            let s1 = y.rotate_right(17) ^ y.rotate_right(19) ^ (y >> 10);
            words.push(
                at(&words, i - 16)
                    .wrapping_add(s0)
                    .wrapping_add(at(&words, i - 7))
                    .wrapping_add(s1),
            );
        }
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = state;
        for (word, key) in words.iter().zip(KEYS.iter()) {
            let s1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
            let sum = h
                .wrapping_add(s1)
                .wrapping_add((e & f) ^ (!e & g))
                .wrapping_add(*key)
                .wrapping_add(*word);
            let s0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
            let other = s0.wrapping_add((a & b) ^ (a & c) ^ (b & c));
            (h, g, f, e, d, c, b, a) = (
                g,
                f,
                e,
                d.wrapping_add(sum),
                c,
                b,
                a,
                sum.wrapping_add(other),
            );
        }
        for (slot, value) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            *slot = slot.wrapping_add(value);
        }
    });
    state
}

fn sha512(text: &[u8]) -> [u64; 8] {
    static KEYS: std::sync::LazyLock<Vec<u64>> = std::sync::LazyLock::new(|| {
        primes(80)
            .into_iter()
            .map(|prime| root_bits(prime, 3))
            .collect()
    });
    let mut state = [0_u64; 8];
    for (slot, prime) in state.iter_mut().zip(primes(8)) {
        *slot = root_bits(prime, 2);
    }
    blocks(text, 128, true, |block| {
        let mut words: Vec<u64> = block
            .chunks(8)
            .map(|eight| {
                eight
                    .iter()
                    .fold(0, |word, byte| word << 8 | u64::from(*byte))
            })
            .collect();
        for i in 16..80 {
            let (x, y) = (at(&words, i - 15), at(&words, i - 2));
            let s0 = x.rotate_right(1) ^ x.rotate_right(8) ^ (x >> 7);
            let s1 = y.rotate_right(19) ^ y.rotate_right(61) ^ (y >> 6);
            words.push(
                at(&words, i - 16)
                    .wrapping_add(s0)
                    .wrapping_add(at(&words, i - 7))
                    .wrapping_add(s1),
            );
        }
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = state;
        for (word, key) in words.iter().zip(KEYS.iter()) {
            let s1 = e.rotate_right(14) ^ e.rotate_right(18) ^ e.rotate_right(41);
            let sum = h
                .wrapping_add(s1)
                .wrapping_add((e & f) ^ (!e & g))
                .wrapping_add(*key)
                .wrapping_add(*word);
            let s0 = a.rotate_right(28) ^ a.rotate_right(34) ^ a.rotate_right(39);
            let other = s0.wrapping_add((a & b) ^ (a & c) ^ (b & c));
            (h, g, f, e, d, c, b, a) = (
                g,
                f,
                e,
                d.wrapping_add(sum),
                c,
                b,
                a,
                sum.wrapping_add(other),
            );
        }
        for (slot, value) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            *slot = slot.wrapping_add(value);
        }
    });
    state
}
