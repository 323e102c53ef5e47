//! A workspace that stays open: what has changed on disk is noticed, and the workspace is opened again.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, RwLock},
};

use crate::{OpenError, Opening, Places, Workspace};

/// A workspace that is opened again when its configuration, its lock file, its knowledge base, or what
/// the user trusts has changed. Calls under way keep the workspace that they began with, and with it the
/// tools that it has prepared.
pub struct Live {
    opening: Opening,
    places: Places,
    now: RwLock<Arc<Now>>,
    /// Held by whoever opens the workspace again; the others wait for it instead of doing the same.
    reopening: Mutex<()>,
}

/// The workspace, and what the files looked like before it was made from them.
struct Now {
    workspace: Arc<Workspace>,
    watched: Watched,
    /// What of that is looked at for each call.
    looked_at: Vec<(PathBuf, Option<Stamp>)>,
}

/// Everything that a workspace is made from.
#[derive(Default)]
struct Watched {
    /// Files and directories.
    paths: Vec<PathBuf>,
    /// Directories that may hold configuration, whose parts are among the paths.
    dirs: Vec<PathBuf>,
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
        let now = Now::new(workspace, &places, &Seen::new());
        Ok(Self {
            opening,
            places,
            now: RwLock::new(Arc::new(now)),
            reopening: Mutex::new(()),
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
        let now = self.latest();
        if now.is_unchanged() {
            return Ok(Arc::clone(&now.workspace));
        }
        let _reopening = self.reopening.lock();
        let now = self.latest();
        // Somebody else may have opened it meanwhile.
        if now.is_unchanged() {
            return Ok(Arc::clone(&now.workspace));
        }
        // Stamps from before the files are read: what changes meanwhile is noticed next time.
        let before = now.watched.look();
        let workspace = self.opening.open_again(&now.workspace, &self.places)?;
        let now = Arc::new(Now::new(workspace, &self.places, &before));
        *self.now.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&now);
        Ok(Arc::clone(&now.workspace))
    }

    fn latest(&self) -> Arc<Now> {
        let now = self.now.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&now)
    }
}

impl Now {
    /// Keeps what a workspace was made from, as it looked `before` that, where somebody looked.
    fn new(workspace: Workspace, places: &Places, before: &Seen) -> Self {
        let watched = Watched::of(&workspace, places);
        let mut seen = watched.look();
        for (path, stamp) in &mut seen {
            if let Some(known) = before.get(path) {
                *stamp = *known;
            }
        }
        Self {
            workspace: Arc::new(workspace),
            looked_at: watched.prune(seen),
            watched,
        }
    }

    fn is_unchanged(&self) -> bool {
        let mut looked_at = self.looked_at.iter();
        looked_at.all(|(path, stamp)| stamp_of(path) == *stamp)
    }
}

impl Watched {
    fn of(workspace: &Workspace, places: &Places) -> Self {
        let (location, loaded) = (workspace.location(), workspace.loaded());
        let mut watched = Self {
            paths: loaded.files.clone(),
            dirs: Vec::new(),
        };
        // Files that are not there yet may come.
        let mut at = location.cwd.as_path();
        loop {
            watched.add_configuration(at.join(".jp"));
            match at.parent() {
                Some(above) if at != location.root => at = above,
                _ => break,
            }
        }
        if let Some(dir) = places.config_dir() {
            watched.add_configuration(dir.to_owned());
        }
        let paths = &mut watched.paths;
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
        watched
    }

    fn add_configuration(&mut self, dir: PathBuf) {
        let parts = ["config.toml", "config.d"].map(|name| dir.join(name));
        self.paths.extend(parts);
        self.dirs.push(dir);
    }

    fn look(&self) -> Seen {
        let all = self.paths.iter().chain(&self.dirs);
        all.map(|path| (path.clone(), stamp_of(path))).collect()
    }

    /// Leaves out what would say nothing more at each call: a directory of configuration that is there,
    /// since its parts are looked at themselves, and the parts of one that is not.
    fn prune(&self, seen: Seen) -> Vec<(PathBuf, Option<Stamp>)> {
        let is_there = |dir: &PathBuf| seen.get(dir).is_some_and(Option::is_some);
        let (there, absent): (Vec<_>, Vec<_>) = self.dirs.iter().partition(|dir| is_there(dir));
        let says_more = |path: &PathBuf| {
            let below = |dir: &&PathBuf| path != *dir && path.starts_with(dir);
            !there.contains(&path) && !absent.iter().any(below)
        };
        let kept = seen.iter().filter(|(path, _)| says_more(path));
        kept.map(|(path, stamp)| (path.clone(), *stamp)).collect()
    }
}

fn stamp_of(path: &Path) -> Option<Stamp> {
    let metadata = fs::metadata(path).ok()?;
    Some(Stamp {
        inode: metadata.ino(),
        size: metadata.size(),
        changed: (metadata.ctime(), metadata.ctime_nsec()),
    })
}
