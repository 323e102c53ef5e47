//! Linking: what a component imports is what it is given, one interface at a time.
//!
//! Linking all of WASI takes a new process longer than everything else it does before the guest
//! runs, and most of it is sockets that nobody may use.

use wasmtime::component::{
    Component, HasData, Linker, LinkerInstance, ResourceTable, ResourceType, types::ComponentItem,
};
use wasmtime_wasi::{
    WasiView,
    cli::{WasiCli, WasiCliView},
    clocks::{WasiClocks, WasiClocksView},
    p2::{
        DynInputStream, DynOutputStream, DynPollable,
        bindings::{cli, clocks, filesystem, random, sockets},
    },
    random::WasiRandom,
    sockets::{WasiSockets, WasiSocketsView},
};
use wasmtime_wasi_io::bindings::wasi::io;

use crate::{error::NotGranted, events, files::HasGuestFiles, host::State, http};

struct HasTable;

impl HasData for HasTable {
    type Data<'a> = &'a mut ResourceTable;
}

/// What a component is given.
pub(crate) struct Linked {
    pub(crate) linker: Linker<State>,
    /// Whether it can make HTTP requests.
    pub(crate) requests: bool,
}

/// Makes a linker with what a component imports.
pub(crate) fn linker_for(component: &Component) -> wasmtime::Result<Linked> {
    let engine = component.engine();
    let mut linker = Linker::new(engine);
    let mut requests = false;
    for (name, item) in component.component_type().imports(engine) {
        let (interface, version) = name.split_once('@').unwrap_or((name, ""));
        if interface.starts_with("wasi:http/") {
            requests |= http::makes_requests(interface, version);
            linker.allow_shadowing(true);
            if http::link(&mut linker, interface, version)? {
                continue;
            }
            if let ComponentItem::ComponentInstance(instance) = item.ty {
                let exports = instance
                    .exports(engine)
                    .map(|(export, item)| (export, item.ty));
                deny(&mut linker.instance(name)?, exports)?;
            }
        } else {
            // What is not known here stays unlinked, and instantiating says which import that is.
            link(&mut linker, interface)?;
        }
    }
    Ok(Linked { linker, requests })
}

fn link(l: &mut Linker<State>, interface: &str) -> wasmtime::Result<()> {
    // Two imports may need the same interface in different versions; the second changes nothing.
    l.allow_shadowing(true);
    match interface {
        "wasi:io/error" => io::error::add_to_linker::<State, HasTable>(l, |s| s.ctx().table),
        "wasi:io/poll" => io::poll::add_to_linker::<State, HasTable>(l, |s| s.ctx().table),
        "wasi:io/streams" => io::streams::add_to_linker::<State, HasTable>(l, |s| s.ctx().table),
        "wasi:filesystem/preopens" => {
            filesystem::preopens::add_to_linker::<State, HasGuestFiles>(l, State::guest_files)
        }
        "wasi:filesystem/types" => {
            filesystem::types::add_to_linker::<State, HasGuestFiles>(l, State::guest_files)
        }
        _ if interface.starts_with("wasi:cli/") => link_cli(l, interface),
        _ if interface.starts_with("wasi:sockets/") => link_sockets(l, interface),
        _ if interface.starts_with("jp:tool/") => events::link(l, interface),
        _ => link_rest(l, interface),
    }
}

fn link_rest(l: &mut Linker<State>, interface: &str) -> wasmtime::Result<()> {
    match interface {
        "wasi:clocks/wall-clock" => {
            clocks::wall_clock::add_to_linker::<State, WasiClocks>(l, State::clocks)
        }
        "wasi:clocks/monotonic-clock" => {
            clocks::monotonic_clock::add_to_linker::<State, WasiClocks>(l, State::clocks)
        }
        "wasi:random/random" => {
            random::random::add_to_linker::<State, WasiRandom>(l, |s| s.ctx().ctx.random())
        }
        "wasi:random/insecure" => {
            random::insecure::add_to_linker::<State, WasiRandom>(l, |s| s.ctx().ctx.random())
        }
        "wasi:random/insecure-seed" => {
            random::insecure_seed::add_to_linker::<State, WasiRandom>(l, |s| s.ctx().ctx.random())
        }
        _ => Ok(()),
    }
}

fn link_cli(l: &mut Linker<State>, interface: &str) -> wasmtime::Result<()> {
    match interface {
        "wasi:cli/exit" => cli::exit::add_to_linker::<State, WasiCli>(l, State::cli),
        "wasi:cli/environment" => cli::environment::add_to_linker::<State, WasiCli>(l, State::cli),
        "wasi:cli/stdin" => cli::stdin::add_to_linker::<State, WasiCli>(l, State::cli),
        "wasi:cli/stdout" => cli::stdout::add_to_linker::<State, WasiCli>(l, State::cli),
        "wasi:cli/stderr" => cli::stderr::add_to_linker::<State, WasiCli>(l, State::cli),
        "wasi:cli/terminal-input" => {
            cli::terminal_input::add_to_linker::<State, WasiCli>(l, State::cli)
        }
        "wasi:cli/terminal-output" => {
            cli::terminal_output::add_to_linker::<State, WasiCli>(l, State::cli)
        }
        "wasi:cli/terminal-stdin" => {
            cli::terminal_stdin::add_to_linker::<State, WasiCli>(l, State::cli)
        }
        "wasi:cli/terminal-stdout" => {
            cli::terminal_stdout::add_to_linker::<State, WasiCli>(l, State::cli)
        }
        "wasi:cli/terminal-stderr" => {
            cli::terminal_stderr::add_to_linker::<State, WasiCli>(l, State::cli)
        }
        _ => Ok(()),
    }
}

/// Sockets are there for those that import them; every address is refused when one is used.
fn link_sockets(l: &mut Linker<State>, interface: &str) -> wasmtime::Result<()> {
    match interface {
        "wasi:sockets/tcp" => sockets::tcp::add_to_linker::<State, WasiSockets>(l, State::sockets),
        "wasi:sockets/tcp-create-socket" => {
            sockets::tcp_create_socket::add_to_linker::<State, WasiSockets>(l, State::sockets)
        }
        "wasi:sockets/udp" => sockets::udp::add_to_linker::<State, WasiSockets>(l, State::sockets),
        "wasi:sockets/udp-create-socket" => {
            sockets::udp_create_socket::add_to_linker::<State, WasiSockets>(l, State::sockets)
        }
        "wasi:sockets/instance-network" => {
            sockets::instance_network::add_to_linker::<State, WasiSockets>(l, State::sockets)
        }
        "wasi:sockets/network" => {
            let options = sockets::network::LinkOptions::default();
            sockets::network::add_to_linker::<State, WasiSockets>(l, &options, State::sockets)
        }
        "wasi:sockets/ip-name-lookup" => {
            sockets::ip_name_lookup::add_to_linker::<State, WasiSockets>(l, State::sockets)
        }
        _ => Ok(()),
    }
}

/// Links the functions of an interface of `wasi:http` that is not spoken here, each one a refusal.
///
/// Some languages import what they do not use, so it must be there.
fn deny<'a>(
    denied: &mut LinkerInstance<'_, State>,
    exports: impl Iterator<Item = (&'a str, ComponentItem)>,
) -> wasmtime::Result<()> {
    for (export, item) in exports {
        match item {
            ComponentItem::ComponentFunc(_) => {
                denied.func_new(export, |_, _, _, _| Err(NotGranted("the network").into()))?;
            }
            ComponentItem::Resource(_) => {
                denied.resource(export, resource_of_http(export), |_, _| Ok(()))?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Returns the type of a resource that `wasi:http` exports. Streams and pollables are those of
/// `wasi:io` under a second name, and a component that imports both wants them to be the same.
fn resource_of_http(export: &str) -> ResourceType {
    match export {
        "input-stream" => ResourceType::host::<DynInputStream>(),
        "output-stream" => ResourceType::host::<DynOutputStream>(),
        "pollable" => ResourceType::host::<DynPollable>(),
        "io-error" => ResourceType::host::<wasmtime::Error>(),
        _ => ResourceType::host::<NotGranted>(),
    }
}
