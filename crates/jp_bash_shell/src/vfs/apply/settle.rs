//! After an apply: the overlay stands on what the host has now, and has no changes.

use super::plan::{Plan, Planned};
use super::survey::join;
use crate::vfs::tree::{Below, Body, Spot, Tree, mirror};
use crate::vfs::{HostDir, Quota};

impl Tree {
    /// Lets directories mirror the host again and forgets everything else: it is found again by name. Directories
    /// keep their inodes, since someone may stand in them.
    pub(super) fn settle(&mut self, host: &HostDir, plan: &Plan, quota: &dyn Quota) {
        for planned in &plan.switches {
            self.settle_switch(host, planned, quota);
        }
        for marked in &plan.markings {
            self.forget_path(&marked.path, quota);
        }
        for (path, index) in &plan.homes {
            self.mirror_dir(host, path, *index);
        }
        let mut freed = 0;
        for inode in self.inodes.iter_mut().flatten() {
            if let Body::Dir(dir) = &mut inode.body {
                freed += dir.hidden.iter().map(|name| name.len() as u64).sum::<u64>();
                dir.hidden.clear();
            }
        }
        self.give(freed, quota);
        let switched = plan.switches.iter().map(|planned| planned.path.as_slice());
        let marked = plan.markings.iter().map(|marked| marked.path.as_slice());
        // The empty path is above all.
        let paths = switched.chain(marked).filter(|path| !path.is_empty());
        self.forget_witnesses(&paths.collect(), quota);
    }

    fn settle_switch(&mut self, host: &HostDir, planned: &Planned, quota: &dyn Quota) {
        let mut todo: Vec<(Vec<u8>, u32)> = Vec::new();
        match planned.index {
            Some(index) if self.dir(index).is_ok() => todo.push((planned.path.clone(), index)),
            Some(_) => self.forget_path(&planned.path, quota),
            None => {}
        }
        while let Some((path, index)) = todo.pop() {
            self.mirror_dir(host, &path, index);
            let Ok(dir) = self.dir(index) else { continue };
            let inner: Vec<_> = dir
                .entries
                .iter()
                .map(|(name, index)| (name.clone(), *index))
                .collect();
            for (name, child) in inner {
                match self.dir(child) {
                    Ok(_) => todo.push((join(&path, &name), child)),
                    Err(_) => {
                        let at = Spot {
                            dir: index,
                            name: &name,
                        };
                        self.forget(at, child, quota);
                    }
                }
            }
        }
    }

    fn mirror_dir(&mut self, host: &HostDir, path: &[u8], index: u32) {
        let Ok(seen) = host.look(path) else { return };
        let Ok(inode) = self.get_mut(index) else {
            return;
        };
        mirror(inode, &seen);
        inode.below = Some(Box::new(Below {
            path: path.into(),
            seen,
            clean: true,
        }));
    }

    /// Forgets the file or link at a path.
    fn forget_path(&mut self, path: &[u8], quota: &dyn Quota) {
        let mut dir = 0;
        let mut parts = path.split(|byte| *byte == b'/').peekable();
        while let Some(name) = parts.next() {
            let Some(index) = self
                .dir(dir)
                .ok()
                .and_then(|dir| dir.entries.get(name).copied())
            else {
                return;
            };
            if parts.peek().is_some() {
                dir = index;
            } else if self.dir(index).is_err() {
                self.forget(Spot { dir, name }, index, quota);
            }
        }
    }
}
