//! Bytes of a component of `jp:tool@0.2.0`: those it hands over, which are counted then, those it was given,
//! and those of files that a person chose, which are read when the component reads them.

use std::{fs::File, io, os::unix::fs::FileExt, sync::Arc};

use jp_tool::GivenBlob;
use wasmtime::component::Resource;
use wasmtime_wasi::WasiView as _;

use crate::{
    convert::described::jp::tool0_2_0::content as wit, error::OutputFull, events::Outward,
    files::Behind, host::State,
};

/// The most bytes of one read, as the contract says.
const MAX_READ: usize = 64 * 1024;

/// Bytes that the host keeps for a component.
#[expect(unreachable_pub, reason = "the generated bindings re-export it")]
pub enum KeptBlob {
    /// The component has handed them over.
    Own(Vec<u8>),
    /// It was given them.
    Given(GivenBlob),
    /// They are those of a chosen file.
    Chosen(Arc<File>),
}

/// Why a blob could not be used so.
#[derive(Debug, thiserror::Error)]
enum Unfit {
    #[error("bytes that a tool was given cannot grow")]
    Given,
    #[error("cannot read a chosen file: {0}")]
    Read(#[from] io::Error),
}

impl KeptBlob {
    fn size(&self) -> io::Result<u64> {
        Ok(match self {
            Self::Own(bytes) => bytes.len() as u64,
            Self::Given(given) => given.as_bytes().len() as u64,
            Self::Chosen(file) => file.metadata()?.len(),
        })
    }

    fn read(&self, offset: u64, most: u32) -> io::Result<Vec<u8>> {
        // The component picks the number.
        let most = usize::try_from(most).map_or(MAX_READ, |most| most.min(MAX_READ));
        let bytes = match self {
            Self::Own(bytes) => bytes.as_slice(),
            Self::Given(given) => given.as_bytes(),
            Self::Chosen(file) => return read_at(file, offset, most),
        };
        let start = usize::try_from(offset).map_or(bytes.len(), |start| start.min(bytes.len()));
        let rest = bytes.get(start..).unwrap_or_default();
        Ok(rest.get(..most).unwrap_or(rest).to_vec())
    }

    /// Returns all bytes, for an answer. Only those that the component has handed over were counted as
    /// output before.
    pub(crate) fn into_bytes(self, outward: &mut Outward) -> wasmtime::Result<Vec<u8>> {
        Ok(match self {
            Self::Own(bytes) => bytes,
            Self::Given(given) => {
                outward.count_bytes(given.as_bytes().len())?;
                given.as_bytes().to_vec()
            }
            Self::Chosen(file) => {
                let size = usize::try_from(file.metadata()?.len()).map_err(|_| OutputFull)?;
                outward.count_bytes(size)?;
                read_at(&file, 0, size)?
            }
        })
    }
}

/// Reads so many bytes of a file, or those that there are.
fn read_at(file: &File, offset: u64, most: usize) -> io::Result<Vec<u8>> {
    let there = file.metadata()?.len().saturating_sub(offset);
    let size = usize::try_from(there).map_or(most, |there| there.min(most));
    let (mut bytes, mut read) = (vec![0; size], 0);
    while let Some(rest) = bytes.get_mut(read..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, offset.saturating_add(read as u64)) {
            Ok(0) => break,
            Ok(count) => read += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(read);
    Ok(bytes)
}

impl wit::HostBlob for State {
    fn new(&mut self, bytes: Vec<u8>) -> wasmtime::Result<Resource<KeptBlob>> {
        self.outward.count_bytes(bytes.len())?;
        Ok(self.ctx().table.push(KeptBlob::Own(bytes))?)
    }

    fn append(&mut self, blob: Resource<KeptBlob>, bytes: Vec<u8>) -> wasmtime::Result<()> {
        self.outward.count_bytes(bytes.len())?;
        match self.ctx().table.get_mut(&blob)? {
            KeptBlob::Own(own) => own.extend(bytes),
            KeptBlob::Given(_) | KeptBlob::Chosen(_) => return Err(Unfit::Given.into()),
        }
        Ok(())
    }

    fn size(&mut self, blob: Resource<KeptBlob>) -> wasmtime::Result<u64> {
        let size = self.ctx().table.get(&blob)?.size();
        Ok(size.map_err(Unfit::from)?)
    }

    fn read(
        &mut self,
        blob: Resource<KeptBlob>,
        offset: u64,
        most: u32,
    ) -> wasmtime::Result<Vec<u8>> {
        let read = self.ctx().table.get(&blob)?.read(offset, most);
        Ok(read.map_err(Unfit::from)?)
    }

    fn drop(&mut self, blob: Resource<KeptBlob>) -> wasmtime::Result<()> {
        self.ctx().table.delete(blob)?;
        Ok(())
    }
}

impl wit::Host for State {
    fn received(&mut self, name: String) -> wasmtime::Result<Option<Resource<KeptBlob>>> {
        self.touched = true;
        let blob = match self.outward.take_given(&name) {
            Some(given) => KeptBlob::Given(given),
            None => match self.chosen(&name) {
                Some(file) => KeptBlob::Chosen(file),
                None => return Ok(None),
            },
        };
        Ok(Some(self.ctx().table.push(blob)?))
    }
}

impl State {
    /// Finds a chosen file by the path at which the component sees it.
    fn chosen(&self, path: &str) -> Option<Arc<File>> {
        self.files.mounts.iter().find_map(|mount| {
            let Some(Behind::Chosen(chosen)) = &mount.behind else {
                return None;
            };
            let name = path.strip_prefix(&mount.guest_path)?.strip_prefix('/')?;
            (name == chosen.name()).then(|| chosen.file())
        })
    }
}

#[cfg(test)]
mod tests {
    use jp_tool::GivenBlobs;

    use super::*;

    #[test]
    fn what_was_given_counts_as_output_when_it_goes_out() {
        let given = Arc::new(GivenBlobs::new(100));
        let blob = |size| {
            let name = given.keep(vec![1; size]).unwrap();
            KeptBlob::Given(given.take(&name).unwrap())
        };
        let mut outward = Outward::with_room(10);
        assert_eq!(blob(7).into_bytes(&mut outward).unwrap(), [1; 7]);
        let full = blob(4).into_bytes(&mut outward).unwrap_err();
        assert!(full.is::<OutputFull>(), "{full:?}");
        let mut file = tempfile::tempfile().unwrap();
        std::io::Write::write_all(&mut file, b"abcd").unwrap();
        let file = Arc::new(file);
        let full = KeptBlob::Chosen(Arc::clone(&file)).into_bytes(&mut outward);
        assert!(full.unwrap_err().is::<OutputFull>());
        assert_eq!(
            KeptBlob::Chosen(file)
                .into_bytes(&mut Outward::with_room(4))
                .unwrap(),
            b"abcd"
        );
    }
}
