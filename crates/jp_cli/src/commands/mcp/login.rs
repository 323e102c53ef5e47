//! `jp mcp login` and `jp mcp logout`: a person logs jp in to a server, in the browser.

use clap::Args;
use jp_llm::{Login, LoginFailed, McpTools, broker::LoggedIn};

use crate::{
    commands::tool::install::listen,
    error::CliError,
    exit::Exit,
    session::{self, Session},
    ui::Ui,
};

#[derive(Debug, Args)]
#[command(after_help = LOGIN_EXAMPLES)]
pub(crate) struct LoginArgs {
    /// The server, as `[providers.mcp.SERVER]` names it
    server: String,
    /// What the login must allow, besides what the server asks for (may be repeated)
    #[arg(long = "scope", value_name = "SCOPE", value_delimiter = ' ')]
    scopes: Vec<String>,
}

const LOGIN_EXAMPLES: &str = "\
Examples:
  jp mcp login forge
  jp mcp login forge --scope repo:write

Prints the address of the page where you log in, and waits until the browser
has come back from there. The login is kept with the secrets
(`jp secret list`), is sent to that server and to no other, and is renewed for
as long as that page's owner allows. No tool and no model sees it.";

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  jp mcp logout forge")]
pub(crate) struct LogoutArgs {
    /// The server, as `[providers.mcp.SERVER]` names it
    server: String,
}

/// Logs in to a server.
pub(crate) fn login(args: &LoginArgs, ui: &Ui) -> Result<Exit, CliError> {
    let session = Session::open(ui)?;
    let servers = servers(&session)?;
    session::block_on(async {
        let interrupts = listen()?;
        let cancel = &interrupts.cancel;
        let login = servers.begin_login(&args.server, &args.scopes, cancel);
        let begun = match login.await.map_err(failed)? {
            Login::Begun(begun) => begun,
            Login::Done(done) => {
                servers.servers().stop().await;
                report(&args.server, &done, ui);
                return Ok(Exit::Done);
            }
        };
        ui.say(format_args!(
            "`{}` lets `{}` make its logins. Log in there, if you know both:",
            args.server,
            jp_text::short_line(begun.issuer(), 200)
        ));
        // To copy, or to pipe into what opens pages.
        ui.bytes(format!("{}\n", begun.url()).as_bytes())?;
        let done = begun.finish(cancel).await;
        servers.servers().stop().await;
        if interrupts.cancel.is_cancelled() {
            return Ok(Exit::Cancelled);
        }
        let done = done.map_err(|error| failed(error.into()))?;
        report(&args.server, &done, ui);
        Ok(Exit::Done)
    })?
}

fn report(server: &str, done: &LoggedIn, ui: &Ui) {
    let allows = match done.scopes.is_empty() {
        true => String::new(),
        false => format!(" It allows: {}.", done.scopes.join(", ")),
    };
    let ends = match done.is_renewed {
        true => "",
        false => " It is not renewed: when it ends, log in again.",
    };
    ui.say(format_args!("Logged in to `{server}`.{allows}{ends}"));
}

/// Forgets the login to a server.
pub(crate) fn logout(args: &LogoutArgs, ui: &Ui) -> Result<Exit, CliError> {
    let session = Session::open(ui)?;
    let server = &args.server;
    if servers(&session)?.logout(server).map_err(failed)? {
        ui.say(format_args!(
            "Forgot the login to `{server}`. The server may still accept it until it ends."
        ));
        return Ok(Exit::Done);
    }
    ui.say(format_args!("There is no login to `{server}`."));
    Ok(Exit::SaidNo)
}

fn servers(session: &Session) -> Result<&McpTools, CliError> {
    let servers = session.host().mcp();
    servers
        .map(AsRef::as_ref)
        .ok_or_else(|| failed(LoginFailed::NoPlace))
}

fn failed(error: LoginFailed) -> CliError {
    match error {
        LoginFailed::Server(error) => CliError::Server(error),
        LoginFailed::Unknown { .. } | LoginFailed::Program { .. } => {
            CliError::usage(error.to_string())
        }
        LoginFailed::NoPlace | LoginFailed::Login(_) => CliError::Broker {
            reason: error.to_string(),
        },
    }
}
