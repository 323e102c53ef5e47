//! Bracket expressions: characters, ranges, classes.

/// A set of characters.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Set {
    pub(crate) negated: bool,
    pub(crate) ranges: Vec<(u32, u32)>,
    pub(crate) classes: Vec<Class>,
}

/// `[:name:]`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Alnum,
    Alpha,
    Ascii,
    Blank,
    Cntrl,
    Digit,
    Graph,
    Lower,
    Print,
    Punct,
    Space,
    Upper,
    Word,
    Xdigit,
}

impl Class {
    /// Returns the class of a name.
    pub(crate) fn named(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"alnum" => Self::Alnum,
            b"alpha" => Self::Alpha,
            b"ascii" => Self::Ascii,
            b"blank" => Self::Blank,
            b"cntrl" => Self::Cntrl,
            b"digit" => Self::Digit,
            b"graph" => Self::Graph,
            b"lower" => Self::Lower,
            b"print" => Self::Print,
            b"punct" => Self::Punct,
            b"space" => Self::Space,
            b"upper" => Self::Upper,
            b"word" => Self::Word,
            b"xdigit" => Self::Xdigit,
            _ => return None,
        })
    }

    fn has(self, c: char) -> bool {
        match self {
            Self::Alnum => c.is_alphanumeric(),
            Self::Alpha => c.is_alphabetic(),
            Self::Ascii => c.is_ascii(),
            Self::Blank => c == ' ' || c == '\t',
            Self::Cntrl => c.is_control(),
            Self::Digit => c.is_ascii_digit(),
            Self::Graph => !c.is_control() && !c.is_whitespace(),
            Self::Lower => c.is_lowercase(),
            Self::Print => !c.is_control(),
            Self::Punct => {
                c.is_ascii_punctuation()
                    || (!c.is_ascii()
                        && !c.is_alphanumeric()
                        && !c.is_control()
                        && !c.is_whitespace())
            }
            Self::Space => c.is_whitespace(),
            Self::Upper => c.is_uppercase(),
            Self::Word => c.is_alphanumeric() || c == '_',
            Self::Xdigit => c.is_ascii_hexdigit(),
        }
    }
}

/// Returns the lower and upper case of a character.
pub(crate) fn cases(c: u32) -> (u32, u32) {
    let Some(c) = char::from_u32(c) else {
        return (c, c);
    };
    let lower = c.to_lowercase().next().unwrap_or(c);
    let upper = c.to_uppercase().next().unwrap_or(c);
    (u32::from(lower), u32::from(upper))
}

impl Set {
    fn holds(&self, c: u32) -> bool {
        self.ranges.iter().any(|(from, to)| *from <= c && c <= *to)
            || (!self.classes.is_empty()
                && char::from_u32(c).is_some_and(|c| self.classes.iter().any(|class| class.has(c))))
    }

    /// Tells whether the character matches.
    pub(crate) fn matches(&self, c: u32, fold: bool) -> bool {
        let found = if fold {
            let (lower, upper) = cases(c);
            self.holds(c) || self.holds(lower) || self.holds(upper)
        } else {
            self.holds(c)
        };
        found != self.negated
    }
}
