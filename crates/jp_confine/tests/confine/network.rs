//! Which other processes a program can talk to.

use std::{
    io::Write,
    net::TcpListener,
    os::{
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixListener},
    },
};

use jp_confine::{Confinement, Network};

use crate::bench::{directory, nothing, probe};

fn with_network() -> Confinement {
    Confinement {
        network: Network::Host,
        ..nothing()
    }
}

#[test]
fn a_listener_of_the_host_is_reached_only_with_the_network_granted() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            stream.unwrap().write_all(b"hello").unwrap();
        }
    });
    let done = probe(nothing(), "connects_by_tcp", &address);
    assert!(
        done.out.contains("said error Network is unreachable"),
        "{done:?}"
    );
    let done = probe(with_network(), "connects_by_tcp", &address);
    assert!(done.out.contains("said hello"), "{done:?}");
}

#[test]
fn an_abstract_socket_of_the_host_is_out_of_reach() {
    let name = format!("jp-confine-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let listener = UnixListener::bind_addr(&address).unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            stream.unwrap().write_all(b"hello").unwrap();
        }
    });
    let done = probe(nothing(), "connects_to_an_abstract_socket", &name);
    assert!(
        done.out.contains("said error Connection refused"),
        "{done:?}"
    );
    if landlock_scopes() {
        let done = probe(with_network(), "connects_to_an_abstract_socket", &name);
        assert!(
            done.out.contains("said error Operation not permitted"),
            "{done:?}"
        );
    }
}

/// Landlock keeps abstract sockets apart since Linux 6.12.
fn landlock_scopes() -> bool {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let numbers: Vec<u32> = release
        .split(['.', '-'])
        .map_while(|n| n.parse().ok())
        .collect();
    numbers >= vec![6, 12]
}

#[test]
fn b24_a_socket_file_outside_the_grant_is_out_of_reach() {
    let (_held, place) = directory();
    let path = place.join("socket");
    let _listener = UnixListener::bind(&path).unwrap();
    let done = probe(
        with_network(),
        "connects_to_a_socket_file",
        path.to_str().unwrap(),
    );
    assert!(done.out.contains("said error No such file"), "{done:?}");
}
