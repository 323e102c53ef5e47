//! Opening: from a guest's flags to the host's, and from a handle to a descriptor.

use std::{fs::File as StdFile, os::unix::fs::FileTypeExt};

use cap_fs_ext::{OpenOptionsFollowExt, OpenOptionsMaybeDirExt, OpenOptionsSyncExt};
use cap_primitives::fs::{FollowSymlinks, OpenOptions};
use wasmtime_wasi::{
    OpenMode,
    filesystem::{Descriptor, Dir, File},
    p2::{
        FsError,
        bindings::filesystem::types::{DescriptorFlags, ErrorCode, OpenFlags, PathFlags},
    },
};

/// Makes a descriptor of what was opened below a directory: only of files and directories.
pub(super) fn as_descriptor(
    opened: StdFile,
    dir: &Dir,
    mode: OpenMode,
    directory: bool,
) -> Result<Descriptor, FsError> {
    let kind = opened.metadata()?.file_type();
    if kind.is_dir() {
        return Ok(Descriptor::Dir(Dir::new(opened, dir.perms, mode, true)));
    }
    if directory {
        return Err(ErrorCode::NotDirectory.into());
    }
    if kind.is_file() {
        return Ok(Descriptor::File(File::new(opened, dir.perms, mode, true)));
    }
    // A FIFO could keep a worker waiting for ever; a device is not the workspace's to give.
    debug_assert!(
        kind.is_fifo() || kind.is_socket() || kind.is_char_device() || kind.is_block_device()
    );
    Err(ErrorCode::NotPermitted.into())
}

/// Translates the flags of `open-at`, as wasmtime does, and adds "do not block".
pub(super) fn open_options(
    follow: PathFlags,
    oflags: OpenFlags,
    flags: DescriptorFlags,
) -> Result<(OpenOptions, OpenMode), ErrorCode> {
    let sync = DescriptorFlags::FILE_INTEGRITY_SYNC
        | DescriptorFlags::DATA_INTEGRITY_SYNC
        | DescriptorFlags::REQUESTED_WRITE_SYNC;
    if flags.intersects(sync) {
        return Err(ErrorCode::Unsupported);
    }
    let changing = OpenFlags::CREATE | OpenFlags::EXCLUSIVE | OpenFlags::TRUNCATE;
    if oflags.contains(OpenFlags::DIRECTORY) && oflags.intersects(changing) {
        return Err(ErrorCode::Invalid);
    }
    let write = flags.contains(DescriptorFlags::WRITE)
        || oflags.intersects(OpenFlags::CREATE | OpenFlags::TRUNCATE);
    let read = flags.contains(DescriptorFlags::READ) || !flags.contains(DescriptorFlags::WRITE);
    let mut options = OpenOptions::new();
    options
        .read(read)
        .write(write)
        .maybe_dir(true)
        .nonblock(true);
    options.truncate(oflags.contains(OpenFlags::TRUNCATE));
    if oflags.contains(OpenFlags::CREATE) {
        let new = oflags.contains(OpenFlags::EXCLUSIVE);
        options.create(!new).create_new(new);
    }
    options.follow(if follow.contains(PathFlags::SYMLINK_FOLLOW) {
        FollowSymlinks::Yes
    } else {
        FollowSymlinks::No
    });
    let mut mode = OpenMode::empty();
    mode.set(OpenMode::READ, read);
    mode.set(OpenMode::WRITE, write);
    Ok((options, mode))
}
