//! Which tools models are offered: what `enable` says, and what a person turned on or off.

use jp_config::tool::Enable;

/// Something a person turned on or off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Toggle {
    /// A tool by its name, or all that can be turned on together.
    On(Option<String>),
    /// A tool by its name, or all that can be turned off.
    Off(Option<String>),
}

/// What a person turned on and off, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection(Vec<Toggle>);

/// Why a tool cannot be turned on or off by its name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SelectionError {
    /// `enable = false`.
    #[error("cannot enable `{name}`: this tool is configured as locked-off")]
    LockedOff {
        /// The tool.
        name: String,
    },
    /// `enable = "always"`.
    #[error("cannot disable `{name}`: this tool is configured as locked-on")]
    LockedOn {
        /// The tool.
        name: String,
    },
}

impl Selection {
    /// Puts toggles together, the first one first.
    #[must_use]
    pub fn new(toggles: impl IntoIterator<Item = Toggle>) -> Self {
        Self(toggles.into_iter().collect())
    }

    /// Asks for one tool by its name.
    #[must_use]
    pub fn naming(name: &str) -> Self {
        Self::new([Toggle::On(Some(name.to_owned()))])
    }

    /// Returns the names that occur.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|toggle| match toggle {
            Toggle::On(name) | Toggle::Off(name) => name.as_deref(),
        })
    }

    /// Tells whether a tool is offered: `explicit` ones only by their own name, `always` in any case
    /// and those that are off in none.
    #[must_use]
    pub fn offers(&self, name: &str, enable: Enable) -> bool {
        let start = matches!(enable, Enable::On | Enable::Always);
        self.0.iter().fold(start, |offered, toggle| {
            let (on, named) = match toggle {
                Toggle::On(named) => (true, named.as_deref()),
                Toggle::Off(named) => (false, named.as_deref()),
            };
            match (named, enable) {
                (_, Enable::Off | Enable::Always) => offered,
                (None, Enable::Explicit) if on => offered,
                (None, _) => on,
                (Some(other), _) if other == name => on,
                (Some(_), _) => offered,
            }
        })
    }

    /// Refuses what cannot be turned on or off by its name. All together passes over such tools.
    ///
    /// # Errors
    ///
    /// The first toggle that names one.
    pub fn check(&self, name: &str, enable: Enable) -> Result<(), SelectionError> {
        let mut named = self.0.iter();
        let wrong = named.find_map(|toggle| match (toggle, enable) {
            (Toggle::On(Some(this)), Enable::Off) if this == name => {
                Some(SelectionError::LockedOff { name: this.clone() })
            }
            (Toggle::Off(Some(this)), Enable::Always) if this == name => {
                Some(SelectionError::LockedOn { name: this.clone() })
            }
            _ => None,
        });
        wrong.map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selection(words: &[&str]) -> Selection {
        Selection::new(words.iter().map(|word| {
            let name = word.get(1..).filter(|name| !name.is_empty());
            let name = name.map(str::to_owned);
            match word.starts_with('+') {
                true => Toggle::On(name),
                false => Toggle::Off(name),
            }
        }))
    }

    #[test]
    fn who_is_offered_follows_enable_and_the_toggles_from_left_to_right() {
        use Enable::{Always, Explicit, Off, On};
        for (words, offered) in [
            (&[][..], [true, false, false, true]),
            (&["+"], [true, false, false, true]),
            (&["-"], [false, false, false, true]),
            (&["+x"], [true, false, true, true]),
            (&["-x"], [false, false, false, true]),
            (&["+other"], [true, false, false, true]),
            (&["-", "+x"], [true, false, true, true]),
            (&["+x", "-"], [false, false, false, true]),
            (&["-", "+"], [true, false, false, true]),
            (&["+x", "-x"], [false, false, false, true]),
        ] {
            let found = [On, Off, Explicit, Always].map(|e| selection(words).offers("x", e));
            assert_eq!(found, offered, "{words:?}");
        }
    }

    #[test]
    fn a_locked_tool_is_not_turned_by_name_and_passed_over_with_all() {
        let text = |words: &[&str], enable| {
            let checked = selection(words).check("x", enable);
            checked.map_err(|error| error.to_string())
        };
        let off = "cannot enable `x`: this tool is configured as locked-off";
        assert_eq!(text(&["+x"], Enable::Off), Err(off.to_owned()));
        let on = "cannot disable `x`: this tool is configured as locked-on";
        assert_eq!(text(&["-x"], Enable::Always), Err(on.to_owned()));
        for words in [&["+"][..], &["-"], &["-x"], &["+y"]] {
            assert_eq!(text(words, Enable::Off), Ok(()));
        }
        assert_eq!(text(&["+x"], Enable::Explicit), Ok(()));
    }
}
