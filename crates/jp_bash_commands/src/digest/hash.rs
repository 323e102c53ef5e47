//! MD5, SHA-1 and the family of SHA-2 of bytes that come in pieces. Knows no files.

use sha2::Digest;

/// Which digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Md5,
    Sha1,
    Sha224,
    Sha256,
    Sha384,
    Sha512,
}

impl Kind {
    pub(super) fn name(self) -> &'static [u8] {
        match self {
            Self::Md5 => b"MD5",
            Self::Sha1 => b"SHA1",
            Self::Sha224 => b"SHA224",
            Self::Sha256 => b"SHA256",
            Self::Sha384 => b"SHA384",
            Self::Sha512 => b"SHA512",
        }
    }

    /// Returns the length of the digest in hexadecimal.
    pub(super) fn digits(self) -> usize {
        match self {
            Self::Md5 => 32,
            Self::Sha1 => 40,
            Self::Sha224 => 56,
            Self::Sha256 => 64,
            Self::Sha384 => 96,
            Self::Sha512 => 128,
        }
    }
}

/// A digest that is fed piece by piece.
pub(super) enum Sum {
    Md5(md5::Md5),
    Sha1(sha1::Sha1),
    Sha224(sha2::Sha224),
    Sha256(sha2::Sha256),
    Sha384(sha2::Sha384),
    Sha512(sha2::Sha512),
}

impl Sum {
    pub(super) fn new(kind: Kind) -> Self {
        match kind {
            Kind::Md5 => Self::Md5(md5::Md5::new()),
            Kind::Sha1 => Self::Sha1(sha1::Sha1::new()),
            Kind::Sha224 => Self::Sha224(sha2::Sha224::new()),
            Kind::Sha256 => Self::Sha256(sha2::Sha256::new()),
            Kind::Sha384 => Self::Sha384(sha2::Sha384::new()),
            Kind::Sha512 => Self::Sha512(sha2::Sha512::new()),
        }
    }

    pub(super) fn update(&mut self, piece: &[u8]) {
        match self {
            Self::Md5(sum) => sum.update(piece),
            Self::Sha1(sum) => sum.update(piece),
            Self::Sha224(sum) => sum.update(piece),
            Self::Sha256(sum) => sum.update(piece),
            Self::Sha384(sum) => sum.update(piece),
            Self::Sha512(sum) => sum.update(piece),
        }
    }

    /// Returns the digest in hexadecimal.
    pub(super) fn finish(self) -> Vec<u8> {
        let bytes = match self {
            Self::Md5(sum) => sum.finalize().to_vec(),
            Self::Sha1(sum) => sum.finalize().to_vec(),
            Self::Sha224(sum) => sum.finalize().to_vec(),
            Self::Sha256(sum) => sum.finalize().to_vec(),
            Self::Sha384(sum) => sum.finalize().to_vec(),
            Self::Sha512(sum) => sum.finalize().to_vec(),
        };
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        hex.into_bytes()
    }
}
