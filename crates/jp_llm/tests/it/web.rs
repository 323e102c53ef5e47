//! A registry served over HTTP by the server of `jp registry serve`, and fetched from by the client that
//! `jp` uses.

use std::{
    sync::Arc,
    thread::{self, JoinHandle},
};

use jp_llm::registry::DownloadTransport;
use jp_publish::Server;
use jp_registry::{Source, StaticSource};
use tokio_util::sync::CancellationToken;

use crate::{kit::Desk, shop};

/// A server on a port of its own.
pub(crate) struct Web {
    url: String,
    stop: CancellationToken,
    running: Option<JoinHandle<()>>,
}

impl Web {
    /// Serves a registry.
    pub(crate) fn serve(shop: &shop::Shop) -> Self {
        let server = Server::bind("127.0.0.1:0", shop.dir()).unwrap();
        let url = format!("http://{}/", server.addr());
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let running = thread::spawn(move || {
            let mut runtime = tokio::runtime::Builder::new_current_thread();
            let runtime = runtime.enable_all().build().unwrap();
            runtime.block_on(server.run(stopped)).unwrap();
        });
        Self {
            url,
            stop,
            running: Some(running),
        }
    }

    fn source(&self) -> Arc<dyn Source> {
        let transport = DownloadTransport::new(&self.url, CancellationToken::new()).unwrap();
        Arc::new(StaticSource::at_url(&self.url, Arc::new(transport)).unwrap())
    }

    /// Lets a desk fetch from here what it does not have, as the next command would.
    pub(crate) fn serves(&self, desk: &mut Desk) {
        shop::online(desk, self.source());
    }

    /// Goes off the net; whoever knows the address is refused from now on.
    pub(crate) fn vanish(&mut self) {
        self.stop.cancel();
        self.running.take().unwrap().join().unwrap();
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}
