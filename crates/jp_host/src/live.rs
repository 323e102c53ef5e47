//! A workspace that stays open: what has changed on disk is noticed, and the workspace is opened again.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use crate::{OpenError, Opening, Places, Workspace};

/// A workspace that is opened again when its configuration, its lock file, its knowledge base, or what
/// the user trusts has changed. Calls under way keep the workspace that they began with.
pub struct Live {
    opening: Opening,
    places: Places,
    now: Mutex<Now>,
}

struct Now {
    workspace: Arc<Workspace>,
    seen: Seen,
}

/// What files and directories looked like: nothing where there was none.
type Seen = BTreeMap<PathBuf, Option<Stamp>>;

/// What changes when a file does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    size: u64,
    changed: (i64, i64),
}

impl Live {
    /// Opens a workspace, audited, and keeps it open.
    ///
    /// # Errors
    ///
    /// When it cannot be opened.
    pub fn open(opening: Opening, places: Places) -> Result<Self, OpenError> {
        let workspace = opening.open(&places)?.audited(&places)?;
        let seen = seen(&watched(&workspace, &places));
        let now = Now {
            workspace: Arc::new(workspace),
            seen,
        };
        Ok(Self {
            opening,
            places,
            now: Mutex::new(now),
        })
    }

    /// Returns where the user's own things are.
    #[must_use]
    pub const fn places(&self) -> &Places {
        &self.places
    }

    /// Returns the workspace as it is on disk now: the one that is open if nothing has changed.
    ///
    /// # Errors
    ///
    /// When it has changed into one that cannot be opened. The next call tries again.
    pub fn now(&self) -> Result<Arc<Workspace>, OpenError> {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        if now
            .seen
            .iter()
            .all(|(path, stamp)| stamp_of(path) == *stamp)
        {
            return Ok(Arc::clone(&now.workspace));
        }
        // Stamps from before the files are read: what changes meanwhile is noticed next time.
        let paths: Vec<PathBuf> = now.seen.keys().cloned().collect();
        let before = seen(&paths);
        let workspace = self.opening.open_again(&now.workspace, &self.places)?;
        let mut seen = seen(&watched(&workspace, &self.places));
        for (path, stamp) in &mut seen {
            if let Some(known) = before.get(path) {
                *stamp = *known;
            }
        }
        *now = Now {
            workspace: Arc::new(workspace),
            seen,
        };
        Ok(Arc::clone(&now.workspace))
    }
}

/// Returns everything a workspace is made from.
fn watched(workspace: &Workspace, places: &Places) -> Vec<PathBuf> {
    let (location, loaded) = (workspace.location(), workspace.loaded());
    let mut paths = loaded.files.clone();
    // Files that are not there yet may come.
    let mut at = location.cwd.as_path();
    loop {
        paths.extend(configuration_in(&at.join(".jp")));
        match at.parent() {
            Some(above) if at != location.root => at = above,
            _ => break,
        }
    }
    paths.extend(places.config_dir().into_iter().flat_map(configuration_in));
    paths.extend(["locara.json", "jp.lock"].map(|name| location.root.join(name)));
    paths.extend(
        [places.trust_file(), places.keys_file()]
            .into_iter()
            .flatten(),
    );
    // What tools are brought by convention, and what there is to learn.
    paths.extend(["wasm", ".jp/tools"].map(|dir| location.root.join(dir)));
    let topics = loaded.config.kb.topics.iter();
    paths.extend(topics.map(|(_, topic)| location.root.join(topic.subjects().as_str())));
    paths
}

fn configuration_in(dir: &Path) -> [PathBuf; 3] {
    [
        dir.to_owned(),
        dir.join("config.toml"),
        dir.join("config.d"),
    ]
}

fn seen(paths: &[PathBuf]) -> Seen {
    let stamp = |path: &PathBuf| (path.clone(), stamp_of(path));
    paths.iter().map(stamp).collect()
}

fn stamp_of(path: &Path) -> Option<Stamp> {
    let metadata = fs::metadata(path).ok()?;
    Some(Stamp {
        inode: metadata.ino(),
        size: metadata.size(),
        changed: (metadata.ctime(), metadata.ctime_nsec()),
    })
}
