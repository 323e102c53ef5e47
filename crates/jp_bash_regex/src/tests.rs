//! What patterns match, by flavor, and what hostile ones cost.

use jp_bash_system::Limit;

use super::*;

/// Asks nothing; counts what is held, and refuses more than a limit.
pub(super) struct Free {
    pub(super) held: u64,
    pub(super) most: u64,
    pub(super) limit: u64,
}

impl Asks for Free {
    fn work(&mut self, _units: u32) -> Result<(), Stop> {
        Ok(())
    }
    fn reserve(&mut self, bytes: u64) -> Result<(), Stop> {
        if self.held + bytes > self.limit {
            return Err(Stop::Limit(Limit::Memory));
        }
        self.held += bytes;
        self.most = self.most.max(self.held);
        Ok(())
    }
    fn release(&mut self, bytes: u64) {
        self.held = self.held.checked_sub(bytes).expect("held before");
    }
}

pub(super) fn free() -> Free {
    Free {
        held: 0,
        most: 0,
        limit: u64::MAX,
    }
}

/// Ends the run after so much work.
pub(super) struct Ends(pub(super) u64);

impl Asks for Ends {
    fn work(&mut self, units: u32) -> Result<(), Stop> {
        let left = self.0.checked_sub(u64::from(units));
        self.0 = left.ok_or(Stop::Limit(Limit::Time))?;
        Ok(())
    }
    fn reserve(&mut self, _bytes: u64) -> Result<(), Stop> {
        Ok(())
    }
    fn release(&mut self, _bytes: u64) {}
}

pub(super) fn made(pattern: &[u8], flavor: Flavor, flags: Flags) -> Result<Regex, RegexError> {
    Regex::new(&mut free(), pattern, flavor, flags).expect("no stop")
}

fn send<T: Send>(_: &T) {}

fn groups(pattern: &str, flavor: Flavor, text: &str) -> String {
    let flags = Flags {
        utf8: true,
        ..Flags::default()
    };
    match made(pattern.as_bytes(), flavor, flags) {
        Err(error) => error.to_string(),
        Ok(regex) => {
            send(&regex);
            let mut found = Vec::new();
            match regex.captures_at(&mut free(), text.as_bytes(), 0, &mut found) {
                Err(error) => error.to_string(),
                Ok(false) => "no".to_owned(),
                Ok(true) => found
                    .iter()
                    .map(|group| match group {
                        Some((from, to)) => format!("[{}]", &text[*from..*to]),
                        None => "-".to_owned(),
                    })
                    .collect(),
            }
        }
    }
}

#[test]
fn groups_are_those_of_glibc() {
    for (pattern, text, expected) in [
        ("(a|ab)(c|bcd)(d*)", "abcd", "[abcd][a][bcd][]"),
        ("(ab|a)(bcd|c)(d*)", "abcd", "[abcd][ab][c][d]"),
        ("(a|b*)*", "aab", "[aab][b]"),
        ("((a)|(b))*", "ab", "[ab][b][a][b]"),
        ("(a?)(ab)?", "ab", "[ab][][ab]"),
        ("(a*)+", "aa", "[aa][aa]"),
        ("x|xyz", "xyz", "[xyz]"),
        ("(.)\\1", "abba", "[bb][b]"),
        ("(a*)\\1b", "aaaab", "[aaaab][aa]"),
        ("é+", "aéé", "[éé]"),
    ] {
        assert_eq!(
            groups(pattern, Flavor::Extended, text),
            expected,
            "{pattern}"
        );
    }
}

#[test]
fn what_is_wrong_is_said_in_glibcs_words() {
    for (pattern, expected) in [
        ("(", "Unmatched ( or \\("),
        ("[a", "Unmatched [, [^, [:, [., or [="),
        ("*a", "Invalid preceding regular expression"),
        ("a{2,1}", "Invalid content of \\{\\}"),
        ("a{99999}", "Regular expression too big"),
        ("[b-a]", "Invalid range end"),
        ("(a)\\2", "Invalid back reference"),
        ("a\\", "Trailing backslash"),
        (
            "((a{1,1000}){1,1000}){1,1000}",
            "Regular expression too big",
        ),
    ] {
        assert_eq!(
            groups(pattern, Flavor::Extended, "a"),
            expected,
            "{pattern}"
        );
    }
}

#[test]
fn hostile_patterns_end_quickly() {
    let deep = "(".repeat(1 << 20);
    assert_eq!(
        groups(&deep, Flavor::Extended, "a"),
        "Regular expression too big"
    );
    let stars = format!("a{}", "*".repeat(1 << 20));
    assert_eq!(groups(&stars, Flavor::Extended, "aa"), "[aa]");
    let text = format!("{}!", "a".repeat(200));
    assert_eq!(groups("^(a+)+$", Flavor::Extended, &text), "no");
    let text = format!("{}b!", "a".repeat(200));
    assert_eq!(
        groups("^((a|aa)+)b\\1!$", Flavor::Extended, &text),
        MatchError::TooManySteps.to_string()
    );
    assert_eq!(groups("^(a+)+(?=b)$", Flavor::Perl, &text[..40]), "no");
}

/// A pattern, small enough for a matcher that tries everything.
#[derive(Debug, Clone)]
enum Small {
    Byte(u8),
    Any,
    Seq(Vec<Small>),
    Or(Vec<Small>),
    Star(Box<Small>),
}

impl Small {
    fn text(&self) -> String {
        match self {
            Self::Byte(byte) => char::from(*byte).to_string(),
            Self::Any => ".".to_owned(),
            Self::Seq(parts) => parts.iter().map(|p| format!("({})", p.text())).collect(),
            Self::Or(parts) => {
                let parts: Vec<String> = parts.iter().map(Self::text).collect();
                format!("({})", parts.join("|"))
            }
            Self::Star(part) => format!("({})*", part.text()),
        }
    }

    /// All ends of matches that begin at one of these positions.
    fn ends(&self, text: &[u8], from: &[usize]) -> Vec<usize> {
        let mut found: Vec<usize> = match self {
            Self::Byte(byte) => from
                .iter()
                .filter(|at| text.get(**at) == Some(byte))
                .map(|at| at + 1)
                .collect(),
            Self::Any => from
                .iter()
                .filter(|at| **at < text.len())
                .map(|at| at + 1)
                .collect(),
            Self::Seq(parts) => parts
                .iter()
                .fold(from.to_vec(), |at, part| part.ends(text, &at)),
            Self::Or(parts) => parts.iter().flat_map(|p| p.ends(text, from)).collect(),
            Self::Star(part) => {
                let mut all = from.to_vec();
                loop {
                    let before = all.len();
                    all.extend(part.ends(text, &all.clone()));
                    all.sort_unstable();
                    all.dedup();
                    if all.len() == before {
                        break all;
                    }
                }
            }
        };
        found.sort_unstable();
        found.dedup();
        found
    }
}

fn small() -> impl proptest::strategy::Strategy<Value = Small> {
    use proptest::prelude::*;
    let leaf = prop_oneof![(b'a'..=b'c').prop_map(Small::Byte), Just(Small::Any),];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Small::Seq),
            prop::collection::vec(inner.clone(), 1..4).prop_map(Small::Or),
            inner.prop_map(|part| Small::Star(Box::new(part))),
        ]
    })
}

/// Returns the numbers of the lines that match, found in all of the text at once.
fn matching_lines(regex: &Regex, text: &[u8]) -> Vec<usize> {
    let (mut found, mut pos) = (Vec::new(), 0);
    while let Some(at) = regex
        .line_at(&mut free(), text, pos, b'\n')
        .expect("a result")
    {
        if at >= text.len() {
            break;
        }
        found.push(memchr::memchr_iter(b'\n', &text[..at]).count());
        pos = at + memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |end| end + 1);
    }
    found
}

#[test]
fn rare_texts_find_the_lines_that_match() {
    let line = |n: usize| format!("{n} the quick brown fox {} jumps over ſ\n", n % 97);
    let text: String = (0..2000).map(line).collect();
    for (pattern, ignore_case) in [
        ("[0-9]+ the .* (1|2)[0-9] ", false),
        ("FOX 4[27]", true),
        ("^1.*9 jumps", false),
        ("(fox 1 |[0-9]8 j).*ſ$", false),
        ("FOX 4\\b.*S$", true),
        ("\\<9[0-9]\\>", false),
        ("x (5|6)7? j", false),
    ] {
        let flags = Flags {
            utf8: true,
            ignore_case,
            ..Flags::default()
        };
        let alone = made(pattern.as_bytes(), Flavor::Extended, flags).expect("valid");
        let lines = Some(b'\n');
        let flags = Flags { lines, ..flags };
        let regex = made(pattern.as_bytes(), Flavor::Extended, flags).expect("valid");
        let expected: Vec<usize> = text
            .lines()
            .enumerate()
            .filter(|(_, line)| alone.is_match_at(&mut free(), line.as_bytes(), 0) == Ok(true))
            .map(|(number, _)| number)
            .collect();
        assert!(!expected.is_empty(), "{pattern}");
        assert_eq!(
            matching_lines(&regex, text.as_bytes()),
            expected,
            "{pattern}"
        );
    }
}

#[test]
fn an_empty_match_among_bytes_that_are_no_text_is_a_match() {
    let flags = Flags::default();
    assert!(!flags.utf8);
    for (pattern, text, expected) in [
        ("]|.|1*", &b"\x80"[..], (0, 1)),
        ("]|.|1*", b"\xe4\xb8\xad", (0, 1)),
        ("(?i)A*$", b"\xffaa", (1, 3)),
    ] {
        let regex = made(pattern.as_bytes(), Flavor::Perl, flags).unwrap();
        assert_eq!(
            regex.find_at(&mut free(), text, 0),
            Ok(Some(expected)),
            "{pattern}"
        );
    }
}

proptest::proptest! {
    #[test]
    fn lines_are_found_together_as_they_are_one_by_one(
        pattern in small(),
        few in proptest::collection::vec("[abc]{0,8}", 1..40),
    ) {
        let flags = Flags { lines: Some(b'\n'), ..Flags::default() };
        let pattern = pattern.text();
        let regex = made(pattern.as_bytes(), Flavor::Extended, flags).expect("valid");
        let alone = made(pattern.as_bytes(), Flavor::Extended, Flags::default());
        let alone = alone.expect("valid");
        // Long enough for the search by texts that must be there, and rare where it begins.
        let mut text = format!("{}\n", "d".repeat(999)).repeat(20);
        few.iter().for_each(|line| text.extend([line, "\n"]));
        let expected: Vec<usize> = text
            .lines()
            .enumerate()
            .filter(|(_, line)| alone.is_match_at(&mut free(), line.as_bytes(), 0) == Ok(true))
            .map(|(number, _)| number)
            .collect();
        proptest::prop_assert_eq!(matching_lines(&regex, text.as_bytes()), expected);
    }

    #[test]
    fn the_match_is_leftmost_and_longest(pattern in small(), text in "[abc]{0,8}") {
        let regex = made(pattern.text().as_bytes(), Flavor::Extended, Flags::default());
        let regex = regex.expect("a valid pattern");
        let text = text.as_bytes();
        let expected = (0..=text.len())
            .find_map(|from| Some((from, *pattern.ends(text, &[from]).last()?)));
        proptest::prop_assert_eq!(regex.find_at(&mut free(), text, 0), Ok(expected));
        let mut found = Vec::new();
        regex.captures_at(&mut free(), text, 0, &mut found).expect("groups");
        proptest::prop_assert_eq!(found.first().copied().flatten(), expected);
        let pattern = pattern.text();
        for simulated in [false, true] {
            let long = made(pattern.as_bytes(), Flavor::Extended, Flags::default());
            let long = long.expect("a valid pattern").treated_as_long(simulated);
            proptest::prop_assert_eq!(long.find_at(&mut free(), text, 0), Ok(expected));
            let is = long.is_match_at(&mut free(), text, 0);
            proptest::prop_assert_eq!(is, Ok(expected.is_some()));
        }
    }

    #[test]
    fn a_perl_pattern_without_extras_is_found_alike_by_all_engines(
        pattern in small(),
        lazy in proptest::prelude::any::<bool>(),
        text in "[abcé]{0,8}",
    ) {
        let mut pattern = pattern.text();
        if lazy {
            pattern = pattern.replace('*', "*?");
        }
        let flags = Flags { utf8: true, ..Flags::default() };
        let read = |pattern: &str| made(pattern.as_bytes(), Flavor::Perl, flags).expect("valid");
        let expected = read(&pattern).find_at(&mut free(), text.as_bytes(), 0);
        // With something special in it, paths are tried one by one.
        let tried = read(&format!("{pattern}(?=)")).find_at(&mut free(), text.as_bytes(), 0);
        proptest::prop_assert_eq!(tried, expected);
        for simulated in [false, true] {
            let long = read(&pattern).treated_as_long(simulated);
            proptest::prop_assert_eq!(long.find_at(&mut free(), text.as_bytes(), 0), expected);
        }
    }

    #[test]
    fn groups_are_the_same_wherever_the_last_match_was(
        pattern in small(),
        text in "[abc]{0,12}",
    ) {
        let pattern = pattern.text();
        let read = || made(pattern.as_bytes(), Flavor::Extended, Flags::default()).expect("valid");
        let (used, text) = (read(), text.as_bytes());
        let (mut at, mut found, mut expected) = (0, Vec::new(), Vec::new());
        while used.captures_at(&mut free(), text, at, &mut found).expect("groups") {
            read().captures_at(&mut free(), text, at, &mut expected).expect("groups");
            proptest::prop_assert_eq!(&found, &expected);
            let (from, to) = found.first().copied().flatten().expect("a match");
            at = to + usize::from(from == to);
        }
    }

    #[test]
    fn no_pattern_panics(
        pattern in "[ab()\\[\\]{}*+?|^$.\\\\1-3,:=é-]{0,16}",
        text in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..24),
        utf8 in proptest::prelude::any::<bool>(),
    ) {
        for flavor in [Flavor::Basic, Flavor::Extended, Flavor::Perl, Flavor::Fixed] {
            let flags = Flags { utf8, ..Flags::default() };
            if let Ok(regex) = made(pattern.as_bytes(), flavor, flags) {
                let mut found = Vec::new();
                let _ = regex.captures_at(&mut free(), &text, 0, &mut found);
                let _ = regex.is_match_at(&mut free(), &text, text.len() / 2);
            }
        }
    }
}
