//! Names that could pass for another: refused where a model could not tell them apart, reported
//! where a person might not.

use crate::ToolId;

/// Writes a name as models may see it, where `.`, `-` and `_` are one letter.
fn folded(name: &str) -> String {
    let fold = |c: char| match c {
        '.' | '-' => '_',
        c => c.to_ascii_lowercase(),
    };
    name.chars().map(fold).collect()
}

/// Returns what another name reads like: digits that look like letters count as those.
fn skeleton(name: &str) -> String {
    let fold = |c: char| match c {
        '0' => 'o',
        '1' | 'i' => 'l',
        '5' => 's',
        c => c,
    };
    let folded: String = folded(name).chars().map(fold).collect();
    folded
        .replace("rn", "m")
        .replace("vv", "w")
        .replace('_', "")
}

/// Returns the taken name that a model would see as the same as `name`.
pub(super) fn collision<'a>(
    name: &ToolId,
    taken: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let wanted = folded(name.as_str());
    let mut same = taken.filter(|other| folded(other) == wanted);
    same.next()
}

/// Returns a known name that a person could mistake `name` for.
pub(super) fn look_alike<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let reads = skeleton(name);
    let mut near = known.filter(|other| {
        let other = *other;
        // One letter makes another word of a short name, and a slip of the pen of a long one.
        let slip = other.len() >= 5 && strsim::damerau_levenshtein(name, other) == 1;
        other != name && (slip || skeleton(other) == reads)
    });
    near.next()
}

#[cfg(test)]
mod tests {
    use super::{collision, look_alike};

    #[test]
    fn e50_names_that_a_model_sees_as_one_collide() {
        let taken = ["read_file", "pdf.split", "ocr"];
        let check = |name: &str| collision(&name.parse().unwrap(), taken.into_iter());
        assert_eq!(check("read-file"), Some("read_file"));
        assert_eq!(check("read.file"), Some("read_file"));
        assert_eq!(check("pdf-split"), Some("pdf.split"));
        assert_eq!(check("ocr"), Some("ocr"));
        assert_eq!(check("ocr2"), None);
    }

    #[test]
    fn near_names_are_told() {
        let known = ["filesystem.read", "ocr", "mail"];
        let check = |name: &str| look_alike(name, known.into_iter());
        assert_eq!(check("filesystem.raed"), Some("filesystem.read"));
        assert_eq!(check("fi1esystem.read"), Some("filesystem.read"));
        assert_eq!(check("0cr"), Some("ocr"));
        assert_eq!(check("rnail"), Some("mail"));
        assert_eq!(check("ocr"), None);
        assert_eq!(check("tar"), None);
    }
}
