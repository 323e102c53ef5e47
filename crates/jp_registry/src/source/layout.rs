//! Where the files of a registry are: the same paths in a directory and below a URL.

use semver::Version;

use crate::{
    id::{Digest, ModelId, ToolId},
    source::{ArtifactRef, Owner},
    transport::FetchError,
};

pub(crate) const ABOUT: &str = "registry.json";
pub(crate) const INDEX: &str = "index.json";
pub(crate) const REVOCATIONS: &str = "revocations.json";
pub(crate) const ROTATIONS: &str = "rotations.json";

/// What a commit that is under way has written; looked at before the files themselves.
pub const PENDING: &str = ".pending";

/// Longer versions would make file names that no file system takes.
const MAX_VERSION: usize = 128;

/// A file of a registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place<'a> {
    /// What the registry says of itself.
    About,
    /// The index.
    Index,
    /// The list of revocations.
    Revocations,
    /// The list of rotations.
    Rotations,
    /// The manifest of a tool; of its newest version if none is named.
    Tool(&'a ToolId, Option<&'a Version>),
    /// The manifest of a model.
    Model(&'a ModelId),
    /// The artifact of a tool.
    Wasm(&'a Digest),
    /// An artifact of a model.
    Blob(&'a Digest),
}

impl Place<'_> {
    /// Returns its path, from the registry's own directory or URL on.
    ///
    /// # Errors
    /// If a tool or version of this name can have no place.
    pub fn path(&self) -> Result<String, FetchError> {
        Ok(match self {
            Self::About => ABOUT.to_owned(),
            Self::Index => INDEX.to_owned(),
            Self::Revocations => REVOCATIONS.to_owned(),
            Self::Rotations => ROTATIONS.to_owned(),
            Self::Tool(id, version) => tool(id, *version)?,
            Self::Model(id) => model(id),
            Self::Wasm(sha256) => wasm(sha256),
            Self::Blob(sha256) => blob(sha256),
        })
    }

    /// Returns the path of the file of signatures beside it.
    ///
    /// # Errors
    /// As [`Place::path`].
    pub fn signatures(&self) -> Result<String, FetchError> {
        self.path().map(|path| signatures(&path))
    }
}

/// Returns the file of signatures beside a document.
pub(crate) fn signatures(path: &str) -> String {
    format!("{path}.sig")
}

/// Returns the place of a tool's manifest.
pub(crate) fn tool(id: &ToolId, version: Option<&Version>) -> Result<String, FetchError> {
    let refused = |reason: &str| Err(FetchError::invalid(format!("the tool {id}"), reason));
    // `a.json` would be the directory of one tool and the newest manifest of another.
    if [".json", ".sig"]
        .iter()
        .any(|end| id.as_str().ends_with(end))
    {
        return refused("a name that ends like a file has no place in a registry");
    }
    let Some(version) = version else {
        return Ok(format!("registry/tools/{id}.json"));
    };
    let version = version.to_string();
    if version.len() > MAX_VERSION {
        return refused("its version is too long");
    }
    Ok(format!("registry/tools/{id}/{version}.json"))
}

/// Returns the place of a model's manifest.
pub(crate) fn model(id: &ModelId) -> String {
    format!("registry/models/{id}.json")
}

/// Returns the place of an artifact.
pub(crate) fn artifact(artifact: &ArtifactRef<'_>) -> String {
    match artifact.owner {
        Owner::Tool(..) => wasm(&artifact.sha256),
        Owner::Model(_) => blob(&artifact.sha256),
    }
}

fn blob(sha256: &Digest) -> String {
    format!("artifacts/{sha256}")
}

/// Returns the place of a tool's artifact.
fn wasm(sha256: &Digest) -> String {
    format!("artifacts/{sha256}.wasm")
}

/// Tells whether a path is one that a registry has; nothing else is served.
pub(crate) fn is_served(path: &str) -> bool {
    let document = |path: &str| path.strip_suffix(".sig").unwrap_or(path).to_owned();
    if matches!(
        document(path).as_str(),
        ABOUT | INDEX | REVOCATIONS | ROTATIONS
    ) {
        return true;
    }
    if let Some(name) = path.strip_prefix("artifacts/") {
        let name = name.strip_suffix(".wasm").unwrap_or(name);
        return name.parse::<Digest>().is_ok();
    }
    let path = document(path);
    let Some(path) = path.strip_suffix(".json") else {
        return false;
    };
    if let Some(id) = path.strip_prefix("registry/models/") {
        return id.parse::<ModelId>().is_ok();
    }
    let Some(rest) = path.strip_prefix("registry/tools/") else {
        return false;
    };
    match rest.split_once('/') {
        None => rest.parse::<ToolId>().is_ok(),
        Some((id, version)) => id.parse::<ToolId>().is_ok() && version.parse::<Version>().is_ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_files_of_a_registry_are_served() {
        let sha = Digest::of(b"x");
        for path in [
            "registry.json".to_owned(),
            "index.json.sig".to_owned(),
            "registry/tools/pdf.split.json".to_owned(),
            "registry/tools/pdf.split/1.0.0-rc.1+b.json.sig".to_owned(),
            "registry/models/glm-1.5.json".to_owned(),
            wasm(&sha),
            format!("artifacts/{sha}"),
        ] {
            assert!(is_served(&path), "{path}");
        }
        for path in [
            "",
            "/",
            "../registry.json",
            "registry/tools/../../secret.json",
            "registry/tools/ocr/../../x.json",
            "registry/tools/OCR.json",
            "registry/tools/ocr/1.0.json",
            ".pending/index.json",
            "artifacts/",
            "artifacts/x.wasm",
            "index.json.sig.sig",
            "registry.key",
            "registry/tools/ocr/1.0.0/x.json",
        ] {
            assert!(!is_served(path), "{path}");
        }
    }

    #[test]
    fn no_tool_can_take_the_place_of_anothers_manifest() {
        let id: ToolId = "a.json".parse().unwrap();
        assert!(tool(&id, None).is_err());
        let long = Version::parse(&format!("1.0.0-{}", "a".repeat(200))).unwrap();
        assert!(tool(&"a".parse().unwrap(), Some(&long)).is_err());
    }
}
