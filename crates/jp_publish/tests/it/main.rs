//! Publishing and serving, with what reads a registry on the other side.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod kit {
    //! The shop of the tests of fetching, with what only publishing needs.

    #[path = "../../../../jp_registry/tests/kit/client.rs"]
    mod client;
    mod copy;
    #[path = "../../../../jp_registry/tests/kit/shop.rs"]
    mod shop;

    pub(crate) use client::Plain;
    pub(crate) use shop::{Shop, manifest, no_progress};
}
mod publish;
mod serve;

use kit::Shop;

const BYTES: &[u8] = b"a small artifact";

/// A shop that sells `ocr` 1.0.0.
fn shop() -> Shop {
    let shop = Shop::new();
    shop.publish("1.0.0", BYTES);
    shop
}
