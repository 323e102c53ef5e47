//! The host behind every front: finds a workspace, reads its configuration, and wires together what
//! calls of its tools run on.
//!
//! Knows nothing of terminals, command lines and servers. A front says where the user keeps things
//! ([`Places`]), which directory is meant ([`Location`]) and who makes calls ([`jp_llm::Caller`]):
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use jp_host::{Location, Places, Workspace};
//! use jp_llm::{Call, Caller};
//!
//! let places = Places::from_environment(&|name| std::env::var_os(name));
//! let workspace = Workspace::at(Location::find(None)?).open(&places)?.audited(&places)?;
//! let host = workspace.host().for_caller(Caller {
//!     principal: jp_host::principal(),
//!     ..Caller::default()
//! });
//! for tool in workspace.tools(&host) {
//!     println!("{}", tool?.name);
//! }
//! let executed = workspace.call("learn", Call::default(), &host).await?;
//! println!("{:?}", executed.result);
//! # Ok(()) }
//! ```

pub mod approvals;
mod error;
mod live;
mod location;
mod open;
mod places;
mod prepared;
mod principal;
mod registries;
mod told;
mod workspace;

pub use approvals::{Approvals, Here};
pub use error::OpenError;
pub use live::Live;
pub use location::Location;
pub use open::Opening;
pub use places::Places;
pub use principal::principal;
pub use registries::{NamedSource, keep_keys, sources};
pub use workspace::{CallError, Workspace};
