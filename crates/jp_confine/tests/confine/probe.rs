//! Programs that run inside: each is a "test" that does nothing unless it is asked to probe.

use std::{
    io::Read,
    net::TcpStream,
    os::{
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixStream},
    },
};

fn asked() -> Option<String> {
    std::env::var("JP_PROBE").ok()
}

#[test]
fn connects_by_tcp() {
    let Some(address) = asked() else { return };
    println!("said {}", said(TcpStream::connect(address)));
}

#[test]
fn connects_to_an_abstract_socket() {
    let Some(name) = asked() else { return };
    let address = SocketAddr::from_abstract_name(name).unwrap();
    println!("said {}", said(UnixStream::connect_addr(&address)));
}

#[test]
fn connects_to_a_socket_file() {
    let Some(path) = asked() else { return };
    println!("said {}", said(UnixStream::connect(path)));
}

#[test]
fn takes_memory() {
    let Some(megabytes) = asked() else { return };
    let bytes = megabytes.parse::<usize>().unwrap() << 20;
    let mut taken: Vec<u8> = Vec::new();
    let result = taken.try_reserve_exact(bytes);
    taken.resize(bytes.min(taken.capacity()), 1);
    println!("said {}", if result.is_ok() { "taken" } else { "refused" });
}

/// Starts itself again, and both take memory and keep it until the other has some.
#[test]
fn two_take_memory() {
    let Some(megabytes) = asked() else { return };
    let bytes = megabytes.parse::<usize>().unwrap() << 20;
    let first = vec![1_u8; bytes];
    let program = std::env::current_exe().unwrap();
    let second = std::process::Command::new(program)
        .args(["--exact", "probe::takes_memory", "--nocapture"])
        .output()
        .unwrap();
    let second = String::from_utf8_lossy(&second.stdout).into_owned();
    let both = first.last() == Some(&1) && second.contains("said taken");
    println!("said {}", if both { "both" } else { "one" });
}

#[test]
fn opens_files() {
    let Some(count) = asked() else { return };
    let files: Vec<_> = (0..count.parse().unwrap())
        .map_while(|_| std::fs::File::open("/dev/null").ok())
        .collect();
    println!("said {}", files.len());
}

fn said<S: Read>(stream: std::io::Result<S>) -> String {
    let mut text = String::new();
    match stream.and_then(|mut stream| stream.read_to_string(&mut text)) {
        Ok(_) => text,
        Err(error) => format!("error {error}"),
    }
}
