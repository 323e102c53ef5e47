//! Colours of `ls --color`, from `LS_COLORS` or GNU's own defaults.

use jp_bash_system::FileKind;

use super::list::Entry;

/// The colours, as the numbers of escape sequences.
pub(super) struct Colors {
    types: Vec<(Vec<u8>, Vec<u8>)>,
    suffixes: Vec<(Vec<u8>, Vec<u8>)>,
}

const DEFAULTS: &[(&str, &str)] = &[
    ("di", "01;34"),
    ("ln", "01;36"),
    ("pi", "33"),
    ("so", "01;35"),
    ("bd", "01;33"),
    ("cd", "01;33"),
    ("ex", "01;32"),
    ("su", "37;41"),
    ("sg", "30;43"),
    ("st", "37;44"),
    ("ow", "34;42"),
    ("tw", "30;42"),
];

impl Colors {
    /// Reads `LS_COLORS`; what is not an assignment is passed over.
    pub(super) fn new(env: &[u8]) -> Self {
        let mut types: Vec<(Vec<u8>, Vec<u8>)> = DEFAULTS
            .iter()
            .map(|(name, color)| (name.as_bytes().to_vec(), color.as_bytes().to_vec()))
            .collect();
        let mut suffixes = Vec::new();
        for part in env.split(|b| *b == b':') {
            let Some(at) = memchr::memchr(b'=', part) else {
                continue;
            };
            let (name, color) = part.split_at(at);
            let color = color.get(1..).unwrap_or_default().to_vec();
            match name.strip_prefix(b"*") {
                Some(suffix) => suffixes.push((suffix.to_vec(), color)),
                None => types.push((name.to_vec(), color)),
            }
        }
        Self { types, suffixes }
    }

    fn of(&self, name: &str) -> Option<&[u8]> {
        self.types
            .iter()
            .rev()
            .find(|(known, _)| known == name.as_bytes())
            .map(|(_, color)| color.as_slice())
            .filter(|color| !color.is_empty() && *color != b"0" && *color != b"00")
    }

    /// Returns the colour of an entry.
    pub(super) fn color(&self, entry: &Entry) -> Option<&[u8]> {
        let mode = entry.stat.map_or(0, |stat| stat.mode);
        let name = match entry.kind {
            FileKind::Directory => match (mode & 0o1000 != 0, mode & 0o002 != 0) {
                (true, true) => "tw",
                (false, true) => "ow",
                (true, false) => "st",
                (false, false) => "di",
            },
            FileKind::Symlink => "ln",
            FileKind::Fifo => "pi",
            FileKind::CharDevice => "cd",
            FileKind::Regular if mode & 0o4000 != 0 => "su",
            FileKind::Regular if mode & 0o2000 != 0 => "sg",
            FileKind::Regular if mode & 0o111 != 0 => "ex",
            FileKind::Regular => {
                let found = self
                    .suffixes
                    .iter()
                    .rev()
                    .find(|(suffix, _)| entry.name.ends_with(suffix));
                return found
                    .map(|(_, color)| color.as_slice())
                    .or_else(|| self.of("fi"));
            }
        };
        self.of(name)
    }
}
