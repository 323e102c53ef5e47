//! Redirections: applied in order before the body, undone after it.

use std::rc::Rc;

use jp_bash_syntax::ast::{Redirect, RedirectFd, RedirectKind, Word};
use jp_bash_system::{Errno, Fd, FileKind, Follow, OpenHow, SysError, SysResult, System};
use smallvec::SmallVec;

use crate::Shell;
use crate::fds::FIRST_FREE;
use crate::flow::Flow;
use crate::kernel::file::{Mode, Object, OpenFile};
use crate::options::Opt;
use crate::run::word_text;
use crate::vars::Bytes;
use crate::vars::access::Assigned;

/// What the descriptors were before, in the order in which they were changed.
#[derive(Default)]
pub(crate) struct Undo(SmallVec<[(Fd, Option<Rc<OpenFile>>); 3]>);

/// Why a redirection failed, already reported or not.
enum Failed {
    /// `NAME: TEXT`
    Errno(Vec<u8>, Errno),
    /// The whole text.
    Text(Vec<u8>),
    /// Nothing more to say.
    Reported,
    Flow(Flow),
}

impl From<Flow> for Failed {
    fn from(flow: Flow) -> Self {
        Self::Flow(flow)
    }
}

/// Opens or closes one descriptor.
enum Target {
    File(Rc<OpenFile>),
    Close,
}

impl Shell<'_> {
    /// Applies redirections. `None` if one failed: that was reported, and none is in effect.
    pub(crate) fn redirect(&mut self, redirects: &[Redirect]) -> Result<Option<Undo>, Flow> {
        let mut undo = Undo::default();
        for redirect in redirects {
            let failed = match self.apply_redirect(redirect, &mut undo) {
                Ok(()) => continue,
                Err(failed) => failed,
            };
            self.restore(undo);
            match failed {
                Failed::Flow(flow) => return Err(flow),
                Failed::Reported => {}
                Failed::Text(text) => self.complain(&text)?,
                Failed::Errno(name, errno) => {
                    self.complain(&[&name, &b": "[..], errno.text().as_bytes()].concat())?;
                }
            }
            return Ok(None);
        }
        Ok(Some(undo))
    }

    /// Puts the descriptors back.
    pub(crate) fn restore(&mut self, undo: Undo) {
        for (fd, file) in undo.0.into_iter().rev() {
            let _closed = self.fds.set(fd, file);
        }
    }

    fn apply_redirect(&mut self, redirect: &Redirect, undo: &mut Undo) -> Result<(), Failed> {
        let default = match &redirect.kind {
            RedirectKind::Read(_)
            | RedirectKind::ReadWrite(_)
            | RedirectKind::DupRead(_)
            | RedirectKind::HereDoc(_)
            | RedirectKind::HereString(_) => 0,
            _ => 1,
        };
        match &redirect.kind {
            RedirectKind::Both(word) => return self.apply_both(word, false, undo),
            RedirectKind::BothAppend(word) => return self.apply_both(word, true, undo),
            RedirectKind::DupRead(word) => return self.apply_dup(redirect, word, default, undo),
            RedirectKind::DupWrite(word) => return self.apply_dup(redirect, word, default, undo),
            _ => {}
        }
        let file = self.open_target(redirect)?;
        self.place(redirect, default, Target::File(file), undo)
    }

    /// Opens what a redirection names.
    fn open_target(&mut self, redirect: &Redirect) -> Result<Rc<OpenFile>, Failed> {
        let read_write = OpenHow {
            read: true,
            write: true,
            create: true,
            ..OpenHow::READ
        };
        let (word, how) = match &redirect.kind {
            RedirectKind::Read(word) => (word, OpenHow::READ),
            RedirectKind::Write(word) => {
                let name = self.target_name(word)?;
                return self.open_noclobber(name);
            }
            RedirectKind::Clobber(word) => (word, OpenHow::WRITE),
            RedirectKind::Append(word) => (word, OpenHow::APPEND),
            RedirectKind::ReadWrite(word) => (word, read_write),
            RedirectKind::HereDoc(doc) => {
                let text = self.expand_here_doc(&doc.body)?;
                return self.text_file(text);
            }
            RedirectKind::HereString(word) => {
                let mut text = self.expand_one(word)?;
                text.push(b'\n');
                return self.text_file(text);
            }
            _ => return Err(Failed::Reported),
        };
        let name = self.target_name(word)?;
        self.open_named(name, how)
    }

    fn text_file(&mut self, text: Vec<u8>) -> Result<Rc<OpenFile>, Failed> {
        self.kernel
            .describe(Object::Text(text.into()), Mode::READ)
            .map_err(|stop| Failed::Flow(stop.into()))
    }

    /// Expands the target of a redirection: exactly one word.
    fn target_name(&mut self, word: &Word) -> Result<Vec<u8>, Failed> {
        let mut names = self.expand_redirect(word)?;
        match (names.pop(), names.is_empty()) {
            (Some(name), true) => Ok(name),
            _ => {
                let shown = word_text(word, &self.kernel.names.borrow());
                Err(Failed::Text(
                    [&shown, &b": ambiguous redirect"[..]].concat(),
                ))
            }
        }
    }

    fn open_named(&mut self, name: Vec<u8>, how: OpenHow) -> Result<Rc<OpenFile>, Failed> {
        if name.starts_with(b"/dev/tcp/") || name.starts_with(b"/dev/udp/") {
            self.complain(b"connect: Connection refused")?;
            return Err(Failed::Text([&name, &b": Connection refused"[..]].concat()));
        }
        if name.is_empty() {
            return Err(Failed::Errno(name, Errno::NoEnt));
        }
        match self.open_path(&name, how) {
            Ok(file) => Ok(file),
            Err(SysError::Errno(errno)) => Err(Failed::Errno(name, errno)),
            Err(SysError::Stop(stop)) => Err(Failed::Flow(stop.into())),
        }
    }

    /// Opens for `>`: under `set -C` an existing regular file is refused.
    fn open_noclobber(&mut self, name: Vec<u8>) -> Result<Rc<OpenFile>, Failed> {
        if !self.options.has(Opt::NoClobber) {
            return self.open_named(name, OpenHow::WRITE);
        }
        match self.stat(&name, Follow::Yes) {
            Ok(stat) if stat.kind == FileKind::Regular => Err(Failed::Text(
                [&name, &b": cannot overwrite existing file"[..]].concat(),
            )),
            Ok(_) => self.open_named(name, OpenHow::WRITE),
            Err(SysError::Stop(stop)) => Err(Failed::Flow(stop.into())),
            Err(_) => {
                let how = OpenHow {
                    exclusive: true,
                    ..OpenHow::WRITE
                };
                self.open_named(name, how)
            }
        }
    }

    /// `&>file`: standard output and error share one description.
    fn apply_both(&mut self, word: &Word, append: bool, undo: &mut Undo) -> Result<(), Failed> {
        let name = self.target_name(word)?;
        self.both_to(name, append, undo)
    }

    fn both_to(&mut self, name: Vec<u8>, append: bool, undo: &mut Undo) -> Result<(), Failed> {
        let file = if append {
            self.open_named(name, OpenHow::APPEND)?
        } else {
            self.open_noclobber(name)?
        };
        self.set_fd(1, Target::File(Rc::clone(&file)), undo)?;
        self.set_fd(2, Target::File(file), undo)
    }

    /// `<&word` and `>&word`.
    fn apply_dup(
        &mut self,
        redirect: &Redirect,
        word: &Word,
        default: Fd,
        undo: &mut Undo,
    ) -> Result<(), Failed> {
        let output = matches!(redirect.kind, RedirectKind::DupWrite(_));
        let name = self.target_name(word)?;
        if name == b"-" {
            return self.place(redirect, default, Target::Close, undo);
        }
        let (digits, moves) = match name.strip_suffix(b"-") {
            Some(digits) => (digits, true),
            None => (name.as_slice(), false),
        };
        let number: Option<Fd> = digits
            .iter()
            .all(u8::is_ascii_digit)
            .then(|| std::str::from_utf8(digits).ok()?.parse().ok())
            .flatten();
        let Some(from) = number else {
            let all_digits = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
            if all_digits {
                return Err(Failed::Errno(digits.to_vec(), Errno::BadF));
            }
            if output && matches!(redirect.fd, RedirectFd::Default | RedirectFd::Number(1)) {
                return self.both_to(name, false, undo);
            }
            return Err(Failed::Text([&name, &b": ambiguous redirect"[..]].concat()));
        };
        let Some(file) = self.fds.get(from).cloned() else {
            // The message has the word as it is written.
            let shown = word_text(word, &self.kernel.names.borrow());
            return Err(Failed::Errno(shown, Errno::BadF));
        };
        let to = self.place_number(redirect, default);
        self.place(redirect, default, Target::File(file), undo)?;
        if moves && to != Some(from) {
            self.set_fd(from, Target::Close, undo)?;
        }
        Ok(())
    }

    fn place_number(&self, redirect: &Redirect, default: Fd) -> Option<Fd> {
        match redirect.fd {
            RedirectFd::Default => Some(default),
            RedirectFd::Number(fd) => Some(fd),
            RedirectFd::Variable(_) | RedirectFd::Element(_) => None,
        }
    }

    /// Puts a target where the redirection says.
    fn place(
        &mut self,
        redirect: &Redirect,
        default: Fd,
        target: Target,
        undo: &mut Undo,
    ) -> Result<(), Failed> {
        let shown: Vec<u8> = match &redirect.fd {
            RedirectFd::Default => return self.set_fd(default, target, undo),
            RedirectFd::Number(fd) => return self.set_fd(*fd, target, undo),
            RedirectFd::Variable(name) => self.name_text(*name).to_vec(),
            RedirectFd::Element(text) => text.to_vec(),
        };
        match target {
            Target::File(file) => {
                let fd = self
                    .fds
                    .add(FIRST_FREE, file)
                    .map_err(|errno| Failed::Errno(shown.clone(), errno))?;
                let text = Bytes::from(fd.to_string().into_bytes());
                if self.set_target(&shown, text)? == Assigned::Refused {
                    let _closed = self.fds.set(fd, None);
                    let text = [&shown, &b": cannot assign fd to variable"[..]].concat();
                    return Err(Failed::Text(text));
                }
                if self.options.has(Opt::VarredirClose) {
                    undo.0.push((fd, None));
                }
                Ok(())
            }
            Target::Close => {
                let text = match self.place_of_text(&shown)? {
                    Some(place) => self.place_text(&place)?,
                    None => None,
                };
                let fd = text
                    .as_ref()
                    .and_then(|text| std::str::from_utf8(text.as_slice()).ok()?.parse().ok());
                match fd {
                    Some(fd) => {
                        let _closed = self.fds.set(fd, None);
                        Ok(())
                    }
                    None => Err(Failed::Errno(shown, Errno::BadF)),
                }
            }
        }
    }

    fn set_fd(&mut self, fd: Fd, target: Target, undo: &mut Undo) -> Result<(), Failed> {
        let file = match target {
            Target::File(file) => Some(file),
            Target::Close => None,
        };
        match self.fds.set(fd, file) {
            Ok(old) => {
                undo.0.push((fd, old));
                Ok(())
            }
            Err(errno) => Err(Failed::Errno(fd.to_string().into_bytes(), errno)),
        }
    }
}

/// Reads everything a descriptor has; counted as memory while it is read.
pub(crate) fn read_whole(sys: &mut dyn System, fd: Fd) -> Result<Vec<u8>, Flow> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 16 << 10];
    loop {
        let read: SysResult<usize> = sys.read(fd, &mut chunk);
        match read {
            Ok(0) | Err(SysError::Errno(_)) => break,
            Ok(n) => {
                sys.reserve(n as u64)?;
                bytes.extend_from_slice(chunk.get(..n).unwrap_or_default());
            }
            Err(SysError::Stop(stop)) => return Err(stop.into()),
        }
    }
    sys.release(bytes.len() as u64);
    Ok(bytes)
}
