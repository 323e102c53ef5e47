//! MD5, SHA-1 and the family of SHA-2 of bytes in memory. Knows no files.

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

/// Returns the digest in hexadecimal.
pub(super) fn digest(kind: Kind, text: &[u8]) -> Vec<u8> {
    let bytes = match kind {
        Kind::Md5 => md5::Md5::digest(text).to_vec(),
        Kind::Sha1 => sha1::Sha1::digest(text).to_vec(),
        Kind::Sha224 => sha2::Sha224::digest(text).to_vec(),
        Kind::Sha384 => sha2::Sha384::digest(text).to_vec(),
        Kind::Sha256 => sha2::Sha256::digest(text).to_vec(),
        Kind::Sha512 => sha2::Sha512::digest(text).to_vec(),
    };
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    hex.into_bytes()
}
