//! Reports what it can see of the world: variables, program arguments, standard input, the network.

use std::{
    io::Read,
    net::{TcpListener, TcpStream, ToSocketAddrs, UdpSocket},
};

use jp_probes::{Call, probe};
use jp_tool::Outcome;
use serde_json::json;

fn run(call: &Call) -> Outcome {
    let address = call.text("address");
    let mut input = String::new();
    let stdin = std::io::stdin().read_to_string(&mut input);
    let tried = json!({
        "variables": std::env::vars().map(|(name, _)| name).collect::<Vec<_>>(),
        "arguments": std::env::args().collect::<Vec<_>>(),
        "stdin": stdin.map_or_else(|error| error.to_string(), |_| input),
        "connect": report(TcpStream::connect(&address).map(drop)),
        "listen": report(TcpListener::bind("127.0.0.1:0").map(drop)),
        "udp": report(UdpSocket::bind("127.0.0.1:0").map(drop)),
        "lookup": report("localhost:80".to_socket_addrs().map(drop)),
    });
    tried.to_string().into()
}

fn report(result: std::io::Result<()>) -> String {
    match result {
        Ok(()) => "ok".to_owned(),
        Err(error) => error.to_string(),
    }
}

probe!(run);
