//! Bounds on the texts that a request holds before it is made: a guest can hold a thousand requests.

use wasmtime::{
    StoreContextMut,
    component::{Linker, Resource},
};
use wasmtime_wasi_http::{
    WasiHttpView,
    p2::{
        bindings::http::types::{HostOutgoingRequest as _, Method, Scheme},
        types::HostOutgoingRequest,
    },
};

use crate::host::State;

/// The interface as `wasmtime-wasi-http` links it.
const TYPES: &str = "wasi:http/types@0.2.12";

/// Bytes of a method, a scheme, or a host with its port.
const MAX_TEXT: usize = 512;

/// Bytes of a path with its query.
const MAX_PATH: usize = 16 * 1024;

type Request = Resource<HostOutgoingRequest>;
type Said = wasmtime::Result<(Result<(), ()>,)>;

/// Puts the bounds before the functions that were linked.
pub(super) fn link(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    let mut types = linker.instance(TYPES)?;
    types.func_wrap(
        "[method]outgoing-request.set-method",
        |mut store: StoreContextMut<'_, State>, (request, method): (Request, Method)| -> Said {
            if matches!(&method, Method::Other(name) if name.len() > MAX_TEXT) {
                return Ok((Err(()),));
            }
            Ok((store.data_mut().http().set_method(request, method)?,))
        },
    )?;
    types.func_wrap(
        "[method]outgoing-request.set-scheme",
        |mut store: StoreContextMut<'_, State>,
         (request, scheme): (Request, Option<Scheme>)|
         -> Said {
            if matches!(&scheme, Some(Scheme::Other(name)) if name.len() > MAX_TEXT) {
                return Ok((Err(()),));
            }
            Ok((store.data_mut().http().set_scheme(request, scheme)?,))
        },
    )?;
    types.func_wrap(
        "[method]outgoing-request.set-authority",
        |mut store: StoreContextMut<'_, State>,
         (request, text): (Request, Option<String>)|
         -> Said {
            if is_longer(text.as_deref(), MAX_TEXT) {
                return Ok((Err(()),));
            }
            Ok((store.data_mut().http().set_authority(request, text)?,))
        },
    )?;
    types.func_wrap(
        "[method]outgoing-request.set-path-with-query",
        |mut store: StoreContextMut<'_, State>,
         (request, text): (Request, Option<String>)|
         -> Said {
            if is_longer(text.as_deref(), MAX_PATH) {
                return Ok((Err(()),));
            }
            Ok((store.data_mut().http().set_path_with_query(request, text)?,))
        },
    )
}

fn is_longer(text: Option<&str>, most: usize) -> bool {
    text.is_some_and(|text| text.len() > most)
}
