//! The front for agents: every tool of a workspace as a server of the Model Context Protocol, on
//! standard input and output, over HTTP, or on a Unix socket.
//!
//! Wire formats and sessions are rmcp's. What stands here is what the protocol leaves to a server: which
//! tools there are and what is true of them, how a call runs on the [`jp_host`] of the workspace, and how
//! what a tool asks reaches the person behind the client.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use jp_host::{Live, Location, Places, Workspace};
//! use jp_serve::{Options, Server};
//! use tokio_util::sync::CancellationToken;
//!
//! let places = Places::from_environment(&|name| std::env::var_os(name));
//! let live = Live::open(Workspace::at(Location::find(None)?).for_many_calls(2), places)?;
//! let server = Server::new(live, Options::new(jp_host::principal()))?;
//! let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
//! server.on_streams(input, output, CancellationToken::new()).await?;
//! # Ok(()) }
//! ```

mod annotations;
mod approving;
mod aside;
mod asking;
mod call;
mod catalogue;
mod changes;
mod completion;
mod connections;
mod content;
mod directory;
mod door;
mod error;
mod fill;
mod gate;
mod handler;
mod hints;
mod http;
mod keep;
mod lazy;
mod metrics;
mod oauth;
mod page;
mod principal;
mod progress;
mod prompts;
mod proposing;
mod queue;
mod resources;
mod sealed;
mod seats;
mod server;
mod sessions;
mod spill;
mod streams;
mod tasks;
mod tls;
mod tokens;
mod upstream;

pub use error::ServeError;
pub use gate::Token;
pub use keep::Keep;
pub use lazy::Lazy;
pub use server::{Options, Server};
pub use tls::Tls;
pub use tokens::{Holder, Tokens, TokensError};
