//! Runs a server until its client goes away or it is stopped.

use std::{
    env,
    fs::{self, Permissions},
    io,
    net::SocketAddr,
    os::unix::fs::{FileTypeExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::Arc,
};

use async_trait::async_trait;
use jp_host::Live;
use jp_llm::{Approval, ApprovalRequest, Approver, Delivery, DeliveryRequest};
use jp_serve::{Keep, Options, ServeError, Server, Tls, Token, Tokens};
use tokio::{net::TcpListener, net::UnixListener, sync::Mutex};

use crate::{
    approve::TerminalApprover, commands::tool::install::listen, error::CliError, exit::Exit,
    interrupt::Interrupts, places, session::opening, ui::Ui,
};

use super::{ServeArgs, afar};

/// The variable that a token of the user's own is read from.
const TOKEN: &str = "JP_TOKEN";

/// As many instances of a tool are made ahead of its calls.
const SPARES: usize = 2;

/// Serves until the client goes away or the server is stopped.
pub(super) fn run(args: &ServeArgs, ui: &Ui) -> Result<Exit, CliError> {
    let tls = tls(args)?;
    let location = places::workspace(ui)?;
    let interrupts = listen()?;
    let opened = opening(location, ui).for_many_calls(SPARES);
    let live = Live::open(opened, places::own())?;
    let config = live.now()?.loaded().config.serve.clone();
    let tokens = Tokens::at(&places::own().serve_tokens()?);
    if let Some(addr) = args.http {
        afar::check(addr, tls.is_some(), &config, &tokens)?;
    }
    let terminal = (args.http.is_some() || args.unix.is_some()) && ui.can_ask;
    let mut options = Options::new(jp_host::principal());
    if terminal {
        let asks = TerminalApprover::new(ui, &interrupts, false);
        options.others = Arc::new(OneAtATime(Mutex::new(asks)));
        options.approver = Arc::clone(&options.others);
    }
    if args.yes {
        // For the user's own client. Nobody else is let loose by it.
        let agrees = TerminalApprover::new(ui, &interrupts, true);
        options.approver = Arc::new(OneAtATime(Mutex::new(agrees)));
    }
    options.tokens = Some(tokens);
    options.hosts = config.hosts;
    options.keep = keep(ui);
    options.lazy = args.lazy.into();
    let server = Server::new(live, options).map_err(failed)?;
    for problem in server.problems()? {
        ui.warning(&problem);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|source| CliError::System {
            what: "cannot start".to_owned(),
            source,
        })?;
    let served = runtime.block_on(async {
        let served = serve(args, tls, &server, &interrupts, ui).await;
        server.end().await;
        served
    });
    // A thread may still wait for standard input; nobody waits for that thread.
    runtime.shutdown_background();
    served.map(|()| Exit::Done)
}

async fn serve(
    args: &ServeArgs,
    tls: Option<Tls>,
    server: &Server,
    interrupts: &Interrupts,
    ui: &Ui,
) -> Result<(), CliError> {
    let stop = interrupts.cancel.clone();
    match (args.http, &args.unix) {
        (Some(addr), _) => {
            let (token, made) = token()?;
            let listener = bind(addr).await?;
            let bound = listener.local_addr().unwrap_or(addr);
            let scheme = if tls.is_some() { "https" } else { "http" };
            ui.line(format_args!("{scheme}://{bound}/mcp"))?;
            if let Some(made) = made {
                ui.say(format_args!("Token, shown only now: {made}"));
            }
            ui.say("Ctrl-C ends it.");
            match tls {
                Some(tls) => server.on_tls(listener, tls, token, stop).await,
                None => server.on_tcp(listener, token, stop).await,
            }
            Ok(())
        }
        (None, Some(path)) => {
            let socket = Socket::bind(path)?;
            ui.line(format_args!("unix:{}", path.display()))?;
            ui.say("Ctrl-C ends it.");
            server.on_unix(socket.listener, stop).await;
            // Another server may have taken the place of a socket that somebody removed.
            drop(fs::remove_file(path));
            Ok(())
        }
        (None, None) => {
            let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
            server.on_streams(input, output, stop).await.map_err(failed)
        }
    }
}

/// Opens what the server keeps for its clients. Without a place for it calls are served all the same.
fn keep(ui: &Ui) -> Option<Keep> {
    let places = places::own();
    let (store, key) = (places.serve_store().ok()?, places.serve_key().ok()?);
    match Keep::open(&store, &key) {
        Ok(keep) => Some(keep),
        Err(error) => {
            ui.warning(&format!(
                "{error}; long calls do not become tasks, and large results are not kept"
            ));
            None
        }
    }
}

/// The largest file of certificates or keys that is read.
const MAX_PEM: u64 = 1024 * 1024;

/// Reads the certificate and its key.
fn tls(args: &ServeArgs) -> Result<Option<Tls>, CliError> {
    let (Some(chain), Some(key)) = (&args.tls_cert, &args.tls_key) else {
        return Ok(None);
    };
    let read = |path: &Path| {
        let bytes = jp_disk::read(path, MAX_PEM)
            .and_then(|found| found.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound)));
        bytes.map_err(|source| CliError::System {
            what: format!("cannot read {}", path.display()),
            source,
        })
    };
    let tls = Tls::new(&read(chain)?, &read(key)?);
    let tls = tls.map_err(|error| CliError::usage(format!("{}: {error}", chain.display())))?;
    Ok(Some(tls))
}

async fn bind(addr: SocketAddr) -> Result<TcpListener, CliError> {
    TcpListener::bind(addr)
        .await
        .map_err(|source| CliError::System {
            what: format!("cannot serve on {addr}"),
            source,
        })
}

/// Takes the token of the environment, or makes one that is shown.
fn token() -> Result<(Token, Option<String>), CliError> {
    match env::var(TOKEN) {
        Ok(text) if !text.is_empty() => {
            let token = Token::from_text(&text);
            let token = token.map_err(|error| CliError::usage(format!("{TOKEN}: {error}")))?;
            Ok((token, None))
        }
        _ => {
            let (token, text) = Token::random().map_err(failed)?;
            Ok((token, Some(text)))
        }
    }
}

struct Socket {
    listener: UnixListener,
}

impl Socket {
    /// Binds a path that only this user can open. What a killed server left there is replaced.
    fn bind(path: &Path) -> Result<Self, CliError> {
        let failed = |source| CliError::System {
            what: format!("cannot serve on {}", path.display()),
            source,
        };
        if fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket()) {
            if std::os::unix::net::UnixStream::connect(path).is_ok() {
                return Err(failed(io::ErrorKind::AddrInUse.into()));
            }
            fs::remove_file(path).map_err(failed)?;
        }
        // Made beside its place, so that nobody can connect before only the user can.
        let beside = beside(path);
        let listener = UnixListener::bind(&beside).map_err(failed)?;
        fs::set_permissions(&beside, Permissions::from_mode(0o600)).map_err(failed)?;
        fs::rename(&beside, path).map_err(failed)?;
        Ok(Self { listener })
    }
}

fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}", std::process::id()));
    path.with_file_name(name)
}

fn failed(error: ServeError) -> CliError {
    CliError::System {
        what: "the server ended".to_owned(),
        source: io::Error::other(error),
    }
}

/// Asks one thing after the other: a terminal has one person.
struct OneAtATime(Mutex<TerminalApprover>);

#[async_trait]
impl Approver for OneAtATime {
    async fn approve(&self, request: &ApprovalRequest<'_>) -> Approval {
        self.0.lock().await.approve(request).await
    }

    async fn deliver(&self, request: &DeliveryRequest<'_>) -> Delivery {
        self.0.lock().await.deliver(request).await
    }
}
