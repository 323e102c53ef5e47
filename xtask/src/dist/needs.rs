//! What a program needs of the system it runs on, read from the program itself.

use anyhow::{Context, Result, bail};
use object::Endianness;
use object::elf::{DT_NEEDED, EM_AARCH64, EM_X86_64, FileHeader64};
use object::read::elf::{FileHeader, SectionTable};

/// The libraries that every system has for which Python's `manylinux` tags are meant (PEP 600).
const EVERYWHERE: &[&str] = &[
    "ld-linux-aarch64.so.1",
    "ld-linux-x86-64.so.2",
    "libc.so.6",
    "libdl.so.2",
    "libgcc_s.so.1",
    "libm.so.6",
    "libpthread.so.0",
    "libresolv.so.2",
    "librt.so.1",
    "libstdc++.so.6",
    "libutil.so.1",
];

/// What a program needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Needs {
    pub(super) machine: Machine,
    /// The libraries it is linked to.
    libraries: Vec<String>,
    /// The oldest glibc that has all that it uses.
    glibc: Option<(u32, u32)>,
}

/// A processor that packages are made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Machine {
    X86_64,
    Aarch64,
}

impl Machine {
    /// Returns what Python calls it.
    const fn python(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64",
            Self::Aarch64 => "aarch64",
        }
    }

    /// Returns what node calls it.
    pub(super) const fn node(self) -> &'static str {
        match self {
            Self::X86_64 => "x64",
            Self::Aarch64 => "arm64",
        }
    }
}

impl Needs {
    /// Reads a program of Linux.
    pub(super) fn of(program: &[u8]) -> Result<Self> {
        let header = FileHeader64::<Endianness>::parse(program)
            .context("invalid program: expected an ELF file of 64 bits")?;
        let endian = header.endian()?;
        let machine = match header.e_machine(endian) {
            EM_X86_64 => Machine::X86_64,
            EM_AARCH64 => Machine::Aarch64,
            other => bail!("unknown processor {other} in an ELF file: expected x86_64 or aarch64"),
        };
        let sections = header.sections(endian, program)?;
        Ok(Self {
            machine,
            libraries: libraries(&sections, endian, program)?,
            glibc: glibc(&sections, endian, program)?,
        })
    }

    /// Returns the tag that a wheel with this program can bear honestly. One that needs a library that not every
    /// system has is for systems like this one only, and so is one without glibc.
    pub(super) fn python_platform(&self) -> String {
        let machine = self.machine.python();
        let is_usual = |library: &String| EVERYWHERE.contains(&library.as_str());
        match self.glibc {
            Some((major, minor)) if self.libraries.iter().all(is_usual) => {
                format!("manylinux_{major}_{minor}_{machine}")
            }
            _ => format!("linux_{machine}"),
        }
    }
}

type Sections<'a> = SectionTable<'a, FileHeader64<Endianness>>;

fn libraries(sections: &Sections<'_>, endian: Endianness, program: &[u8]) -> Result<Vec<String>> {
    let table = sections.dynamic_table(endian, program)?;
    let mut libraries = Vec::new();
    for dynamic in table.iter().filter(|dynamic| dynamic.tag == DT_NEEDED) {
        libraries.push(String::from_utf8_lossy(table.string(dynamic)?).into_owned());
    }
    Ok(libraries)
}

/// Finds the newest version of glibc among those of all symbols.
fn glibc(
    sections: &Sections<'_>,
    endian: Endianness,
    program: &[u8],
) -> Result<Option<(u32, u32)>> {
    let Some((mut needs, link)) = sections.gnu_verneed(endian, program)? else {
        return Ok(None);
    };
    let strings = sections.strings(endian, program, link)?;
    let mut newest = None;
    while let Some((_, mut versions)) = needs.next()? {
        while let Some(version) = versions.next()? {
            newest = newest.max(version_of(version.name(endian, strings)?));
        }
    }
    Ok(newest)
}

/// Reads `GLIBC_2.34` and `GLIBC_2.2.5`; other libraries have other names.
fn version_of(name: &[u8]) -> Option<(u32, u32)> {
    let name = str::from_utf8(name).ok()?;
    let mut numbers = name.strip_prefix("GLIBC_")?.split('.');
    let mut number = || numbers.next()?.parse().ok();
    Some((number()?, number()?))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn needs(libraries: &[&str], glibc: Option<(u32, u32)>) -> Needs {
        Needs {
            machine: Machine::X86_64,
            libraries: libraries
                .iter()
                .map(|&library| library.to_owned())
                .collect(),
            glibc,
        }
    }

    #[test]
    fn a_program_says_what_it_needs() {
        let program = fs::read(std::env::current_exe().unwrap()).unwrap();
        let needs = Needs::of(&program).unwrap();
        assert_eq!(needs.machine.python(), std::env::consts::ARCH);
        assert!(needs.libraries.iter().any(|name| name == "libc.so.6"));
        assert!(needs.glibc.unwrap() >= (2, 17), "{needs:?}");
        let tag = needs.python_platform();
        assert!(tag.starts_with("manylinux_2_"), "{tag}");
    }

    #[test]
    fn versions_are_compared_as_numbers() {
        let versions = [
            "GLIBC_2.9",
            "GLIBC_2.34",
            "GLIBC_2.2.5",
            "GCC_4.2.0",
            "GLIBC_PRIVATE",
        ];
        let newest = versions
            .iter()
            .filter_map(|name| version_of(name.as_bytes()))
            .max();
        assert_eq!(newest, Some((2, 34)));
    }

    #[test]
    fn a_tag_promises_no_more_than_holds() {
        let usual = needs(&["libc.so.6", "libm.so.6"], Some((2, 34)));
        assert_eq!(usual.python_platform(), "manylinux_2_34_x86_64");
        let special = needs(&["libc.so.6", "libdbus-1.so.3"], Some((2, 34)));
        assert_eq!(special.python_platform(), "linux_x86_64");
        assert_eq!(needs(&[], None).python_platform(), "linux_x86_64");
    }

    #[test]
    fn what_is_not_a_program_is_refused() {
        for bytes in [&b""[..], b"#!/bin/sh\n", &[0x7f; 200]] {
            let error = Needs::of(bytes).unwrap_err().to_string();
            assert!(error.contains("expected an ELF file"), "{error}");
        }
    }
}
