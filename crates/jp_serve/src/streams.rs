//! A server on a pair of streams: one line for each message.

mod unique;

use futures::future::BoxFuture;
use rmcp::{service::serve_server_with_ct, transport::async_rw::AsyncRwTransport};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use self::unique::Unique;
use crate::{ServeError, Server, handler::Handler};

/// Longer messages are dropped.
const LONGEST_LINE: usize = 16 * 1024 * 1024;

impl Server {
    /// Serves one client on two streams until it closes them, or the server is stopped.
    ///
    /// # Errors
    ///
    /// When the client does not speak the protocol.
    pub async fn on_streams<R, W>(
        &self,
        input: R,
        output: W,
        stop: CancellationToken,
    ) -> Result<(), ServeError>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        use rmcp::service::ServerInitializeError::{Cancelled, ConnectionClosed};
        let transport =
            AsyncRwTransport::new_server(input, output).with_max_line_length(LONGEST_LINE);
        let handler = Handler::new(self.user());
        // In a box, for its type is too deep for the compiler to lay out within those of its callers.
        let serving: BoxFuture<'_, _> =
            Box::pin(serve_server_with_ct(handler, Unique::new(transport), stop));
        match serving.await {
            Ok(running) => {
                running.waiting().await?;
                Ok(())
            }
            // Whoever only looked whether the server starts did nothing wrong.
            Err(ConnectionClosed(_) | Cancelled) => Ok(()),
            Err(error) => Err(ServeError::Handshake(Box::new(error))),
        }
    }
}
