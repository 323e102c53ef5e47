//! Archives whose bytes depend on what is in them and on nothing else: sorted names, one time, one owner.

use std::borrow::Cow;
use std::io::{Write, copy};

use anyhow::{Result, bail, ensure};
use flate2::write::DeflateEncoder;
use flate2::{Compression, GzBuilder};
use rawzip::time::ZipDateTime;
use rawzip::{CompressionMethod, ZipArchiveWriter};

/// When everything was changed: the beginning of 1980, before which a zip knows no time.
const TIME: u32 = 315_532_800;

/// The longest name that a header of a tar has room for.
const TAR_NAME: usize = 100;

/// Tars are written in blocks of this size.
const BLOCK: usize = 512;

/// The largest file that the octal digits of a tar can say.
const TAR_BYTES: usize = 0o77_777_777_777;

/// A file in an archive.
#[derive(Debug, Clone)]
pub(super) struct Entry<'a> {
    pub(super) path: String,
    pub(super) bytes: Cow<'a, [u8]>,
    pub(super) mode: Mode,
}

/// What a file is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Read,
    Run,
}

impl Mode {
    const fn bits(self) -> u32 {
        match self {
            Self::Read => 0o644,
            Self::Run => 0o755,
        }
    }
}

impl<'a> Entry<'a> {
    /// Returns a file to read.
    pub(super) fn text(path: &str, text: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            bytes: Cow::Owned(text.into().into_bytes()),
            mode: Mode::Read,
        }
    }

    /// Returns a file to run.
    pub(super) fn program(path: &str, bytes: &'a [u8]) -> Self {
        Self {
            path: path.to_owned(),
            bytes: Cow::Borrowed(bytes),
            mode: Mode::Run,
        }
    }
}

/// Returns the files in the order in which every archive has them.
fn sorted<'a, 'b>(entries: &'b [Entry<'a>]) -> Vec<&'b Entry<'a>> {
    let mut sorted: Vec<&Entry<'_>> = entries.iter().collect();
    sorted.sort_by(|one, other| one.path.cmp(&other.path));
    sorted
}

/// Packs a zip, as bundles and wheels are.
pub(super) fn zip(entries: &[Entry<'_>], effort: Compression) -> Result<Vec<u8>> {
    let mut archive = ZipArchiveWriter::new(Vec::new());
    for entry in sorted(entries) {
        let file = archive
            .new_file(&*entry.path)
            .compression_method(CompressionMethod::DEFLATE)
            .last_modified(ZipDateTime::from_unix(TIME.into()))
            .unix_permissions(0o100_000 | entry.mode.bits());
        let (mut file, config) = file.start()?;
        let mut writer = config.wrap(DeflateEncoder::new(&mut file, effort));
        copy(&mut &*entry.bytes, &mut writer)?;
        let (encoder, written) = writer.finish()?;
        encoder.finish()?;
        file.finish(written)?;
    }
    Ok(archive.finish()?)
}

/// Packs a compressed tar, as packages of npm are.
pub(super) fn tar_gz(entries: &[Entry<'_>], effort: Compression) -> Result<Vec<u8>> {
    let mut out = GzBuilder::new()
        .mtime(TIME)
        // Of no particular system.
        .operating_system(255)
        .write(Vec::new(), effort);
    for entry in sorted(entries) {
        out.write_all(&header(entry)?)?;
        out.write_all(&entry.bytes)?;
        let rest = entry.bytes.len() % BLOCK;
        if rest > 0 {
            out.write_all(&[0; BLOCK][rest..])?;
        }
    }
    out.write_all(&[0; 2 * BLOCK])?;
    Ok(out.finish()?)
}

/// Returns what a tar has before a file: its name, its size and so on, in the form `ustar`.
fn header(entry: &Entry<'_>) -> Result<[u8; BLOCK]> {
    if entry.path.len() > TAR_NAME {
        bail!("a name in a tar is too long: {}", entry.path);
    }
    ensure!(
        entry.bytes.len() <= TAR_BYTES,
        "a file in a tar is too large: {}",
        entry.path
    );
    let mut header = [0; BLOCK];
    let mut put = |at: usize, text: &str| {
        header[at..at + text.len()].copy_from_slice(text.as_bytes());
    };
    put(0, &entry.path);
    put(100, &format!("{:07o}", entry.mode.bits()));
    // Nobody in particular owns it.
    put(108, "0000000");
    put(116, "0000000");
    put(124, &format!("{:011o}", entry.bytes.len()));
    put(136, &format!("{TIME:011o}"));
    // The sum is taken as if it were spaces.
    put(148, "        ");
    put(156, "0");
    put(257, "ustar\0");
    put(263, "00");
    let sum: u32 = header.iter().copied().map(u32::from).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    Ok(header)
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::{DeflateDecoder, GzDecoder};

    use super::*;

    fn entries() -> Vec<Entry<'static>> {
        vec![
            Entry::text("b/read.txt", "read me\n".repeat(100)),
            Entry::program("a/run", b"#!/bin/sh\n"),
            Entry::text("c", ""),
        ]
    }

    fn turned() -> Vec<Entry<'static>> {
        entries().into_iter().rev().collect()
    }

    #[test]
    fn the_same_files_are_the_same_bytes_in_whatever_order_they_come() {
        let best = Compression::best();
        assert_eq!(
            zip(&entries(), best).unwrap(),
            zip(&turned(), best).unwrap()
        );
        let (one, other) = (tar_gz(&entries(), best), tar_gz(&turned(), best));
        assert_eq!(one.unwrap(), other.unwrap());
    }

    #[test]
    fn what_is_packed_in_a_zip_comes_out_again() {
        let bytes = zip(&entries(), Compression::fast()).unwrap();
        let archive = rawzip::ZipArchive::from_slice(&bytes).unwrap();
        let mut found = Vec::new();
        for record in archive.entries() {
            let record = record.unwrap();
            let entry = archive.get_entry(record.wayfinder()).unwrap();
            let mut text = String::new();
            let reader = DeflateDecoder::new(entry.data());
            entry
                .verifying_reader(reader)
                .read_to_string(&mut text)
                .unwrap();
            let name = String::from_utf8(record.file_path().as_ref().to_vec()).unwrap();
            found.push((name, record.mode().value(), text));
        }
        let names: Vec<(&str, u32, usize)> = found
            .iter()
            .map(|(name, mode, text)| (name.as_str(), *mode, text.len()))
            .collect();
        let expected = [
            ("a/run", 0o100_755, 10),
            ("b/read.txt", 0o100_644, 800),
            ("c", 0o100_644, 0),
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn a_tar_has_whole_blocks_and_headers_that_add_up() {
        let bytes = tar_gz(&entries(), Compression::fast()).unwrap();
        let mut tar = Vec::new();
        GzDecoder::new(&*bytes).read_to_end(&mut tar).unwrap();
        // Three headers, one block and two of content, two blocks at the end.
        assert_eq!(tar.len(), (3 + 1 + 2 + 2) * BLOCK);
        let header = &tar[..BLOCK];
        assert!(header.starts_with(b"a/run\0"));
        assert_eq!(&header[100..108], b"0000755\0");
        assert_eq!(&header[124..136], b"00000000012\0");
        let sum: u32 = header[..148]
            .iter()
            .chain(&header[156..])
            .map(|byte| u32::from(*byte))
            .sum();
        let sum = format!("{:06o}\0 ", sum + 8 * u32::from(b' '));
        assert_eq!(&header[148..156], sum.as_bytes());
    }

    #[test]
    fn a_name_without_room_in_a_tar_is_refused() {
        let long = Entry::text(&"x".repeat(TAR_NAME + 1), "");
        let error = tar_gz(&[long], Compression::fast()).unwrap_err();
        assert!(error.to_string().contains("too long"), "{error}");
    }
}
