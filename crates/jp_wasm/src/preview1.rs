//! WASI preview 1 for core modules: the same files, clocks, randomness and captured output as
//! components have, under the numbers and in the layout of preview 1; and, for a program, its
//! arguments on standard input.
//!
//! wasmtime's own preview 1 has a view of files of its own, which would open FIFOs and count
//! neither descriptors nor what is written. Here each function is translated to the one of
//! `wasi:filesystem` that components call, and nothing is decided about files.

mod ambient;
mod errno;
mod fds;
mod listing;
mod memory;
mod paths;
mod poll;
mod status;
mod transfer;

use bytes::Bytes;
use wasmtime::{Caller, Extern, Linker};
use wasmtime_wasi::p2::bindings::filesystem::preopens::Host as _;

use self::{
    errno::{Answer, Refused},
    fds::Fds,
    memory::Memory,
};
use crate::host::State;

/// The only module that core modules may import from.
pub(crate) const NAME: &str = "wasi_snapshot_preview1";

/// What preview 1 works on, beside what components have too.
#[derive(Default)]
pub(crate) struct Preview1 {
    stdin: Bytes,
    /// Made when a guest first asks for a number.
    fds: Option<Fds>,
}

impl Preview1 {
    /// Sets what the guest reads. What it did before this, it did without any input.
    pub(crate) fn set_stdin(&mut self, text: &str) {
        self.stdin = Bytes::copy_from_slice(text.as_bytes());
    }
}

/// One call of a function of preview 1.
struct Call<'a> {
    memory: Memory<'a>,
    state: &'a mut State,
}

impl<'a> Call<'a> {
    fn of(caller: &'a mut Caller<'_, State>) -> wasmtime::Result<Self> {
        let Some(Extern::Memory(memory)) = caller.get_export("memory") else {
            return Err(wasmtime::Error::msg(
                "it calls WASI and exports no `memory` to answer in",
            ));
        };
        let (memory, state) = memory.data_and_store_mut(caller);
        state.touched = true;
        Ok(Self {
            memory: Memory(memory),
            state,
        })
    }

    fn fds(&mut self) -> Answer<&mut Fds> {
        let granted = match self.state.preview1.fds {
            Some(_) => Vec::new(),
            None => self.state.guest_files().get_directories()?,
        };
        let fds = &mut self.state.preview1.fds;
        Ok(fds.get_or_insert_with(|| Fds::new(granted)))
    }
}

/// Turns an answer into what a function returns.
fn returned(answer: Answer) -> wasmtime::Result<u32> {
    match answer {
        Ok(()) => Ok(0),
        Err(Refused::Errno(errno)) => Ok(errno.0.into()),
        Err(Refused::Stop(error)) => Err(error),
    }
}

/// Links functions that may have to wait for something.
macro_rules! waiting {
    ($linker:ident: $($name:ident($($argument:ident: $type:ty),*);)*) => {$(
        $linker.func_wrap_async(
            NAME,
            stringify!($name),
            |mut caller: Caller<'_, State>, ($($argument,)*): ($($type,)*)| {
                Box::new(async move {
                    let mut call = Call::of(&mut caller)?;
                    returned(call.$name($($argument),*).await)
                })
            },
        )?;
    )*};
}

/// Links functions that answer at once.
macro_rules! prompt {
    ($linker:ident: $($name:ident($($argument:ident: $type:ty),*);)*) => {$(
        $linker.func_wrap(
            NAME,
            stringify!($name),
            |mut caller: Caller<'_, State>, $($argument: $type),*| {
                let mut call = Call::of(&mut caller)?;
                returned(call.$name($($argument),*))
            },
        )?;
    )*};
}

/// Gives a linker the functions of preview 1.
pub(crate) fn add_to_linker(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    linker.func_wrap(NAME, "proc_exit", ambient::exit)?;
    link_files(linker)?;
    link_paths(linker)?;
    prompt! { linker:
        args_get(list: u32, text: u32);
        args_sizes_get(count: u32, size: u32);
        environ_get(list: u32, text: u32);
        environ_sizes_get(count: u32, size: u32);
        clock_res_get(clock: u32, at: u32);
        clock_time_get(clock: u32, precision: u64, at: u32);
        random_get(at: u32, len: u32);
        proc_raise(signal: u32);
        sched_yield();
        sock_accept(fd: u32, flags: u32, at: u32);
        sock_recv(fd: u32, list: u32, count: u32, flags: u32, size: u32, out: u32);
        sock_send(fd: u32, list: u32, count: u32, flags: u32, size: u32);
        sock_shutdown(fd: u32, how: u32);
    }
    waiting! { linker: poll_oneoff(from: u32, to: u32, count: u32, at: u32); }
    Ok(())
}

fn link_files(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    prompt! { linker:
        fd_allocate(fd: u32, offset: u64, len: u64);
        fd_close(fd: u32);
        fd_fdstat_set_flags(fd: u32, flags: u32);
        fd_fdstat_set_rights(fd: u32, base: u64, inheriting: u64);
        fd_prestat_get(fd: u32, at: u32);
        fd_prestat_dir_name(fd: u32, at: u32, len: u32);
        fd_renumber(from: u32, to: u32);
        fd_tell(fd: u32, at: u32);
    }
    waiting! { linker:
        fd_advise(fd: u32, offset: u64, len: u64, advice: u32);
        fd_datasync(fd: u32);
        fd_sync(fd: u32);
        fd_fdstat_get(fd: u32, at: u32);
        fd_filestat_get(fd: u32, at: u32);
        fd_filestat_set_size(fd: u32, size: u64);
        fd_filestat_set_times(fd: u32, accessed: u64, modified: u64, flags: u32);
        fd_pread(fd: u32, list: u32, count: u32, offset: u64, size: u32);
        fd_pwrite(fd: u32, list: u32, count: u32, offset: u64, size: u32);
        fd_read(fd: u32, list: u32, count: u32, size: u32);
        fd_write(fd: u32, list: u32, count: u32, size: u32);
        fd_readdir(fd: u32, at: u32, len: u32, cookie: u64, size: u32);
        fd_seek(fd: u32, offset: i64, whence: u32, at: u32);
    }
    Ok(())
}

fn link_paths(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    waiting! { linker:
        path_create_directory(fd: u32, path: u32, len: u32);
        path_filestat_get(fd: u32, flags: u32, path: u32, len: u32, at: u32);
        path_filestat_set_times(
            fd: u32, flags: u32, path: u32, len: u32, accessed: u64, modified: u64, set: u32
        );
        path_link(
            fd: u32, flags: u32, path: u32, len: u32, new_fd: u32, new_path: u32, new_len: u32
        );
        path_open(
            fd: u32, lookup: u32, path: u32, len: u32, how: u32, rights: u64, inheriting: u64,
            flags: u32, at: u32
        );
        path_readlink(fd: u32, path: u32, len: u32, at: u32, room: u32, size: u32);
        path_remove_directory(fd: u32, path: u32, len: u32);
        path_rename(fd: u32, path: u32, len: u32, new_fd: u32, new_path: u32, new_len: u32);
        path_symlink(target: u32, target_len: u32, fd: u32, path: u32, len: u32);
        path_unlink_file(fd: u32, path: u32, len: u32);
    }
    Ok(())
}
