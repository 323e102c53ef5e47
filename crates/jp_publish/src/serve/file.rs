//! A part of a file on its way out: read on a thread that may block, handed over block by block.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    ops::Range,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use tokio::{sync::mpsc, task};

/// How much is read at once; two blocks wait at most.
const BLOCK: u64 = 64 * 1024;

/// A body that is a part of a file.
pub(super) struct Part {
    blocks: mpsc::Receiver<io::Result<Bytes>>,
    left: u64,
}

impl Part {
    pub(super) fn of(file: File, range: Range<u64>) -> Self {
        let (sender, blocks) = mpsc::channel(1);
        let left = range.end.saturating_sub(range.start);
        task::spawn_blocking(move || read(file, &range, &sender));
        Self { blocks, left }
    }
}

/// Reads until the end or until nobody wants more. A file that has become shorter is an error: the
/// length was sent already.
fn read(mut file: File, range: &Range<u64>, sender: &mpsc::Sender<io::Result<Bytes>>) {
    let mut at = range.start;
    let mut next = || -> io::Result<Bytes> {
        if at == range.start {
            file.seek(SeekFrom::Start(at))?;
        }
        let wanted = BLOCK.min(range.end.saturating_sub(at));
        let mut block = Vec::with_capacity(usize::try_from(wanted).unwrap_or_default());
        let count = (&mut file).take(wanted).read_to_end(&mut block)? as u64;
        if count < wanted {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        at = at.saturating_add(count);
        Ok(block.into())
    };
    let mut left = range.end.saturating_sub(range.start);
    while left > 0 {
        let block = next();
        left = match &block {
            Ok(block) => left.saturating_sub(block.len() as u64),
            Err(_) => 0,
        };
        if sender.blocking_send(block).is_err() {
            return;
        }
    }
}

impl Body for Part {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        self.blocks.poll_recv(cx).map(|block| {
            let block = block?;
            if let Ok(block) = &block {
                self.left = self.left.saturating_sub(block.len() as u64);
            }
            Some(block.map(Frame::data))
        })
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
