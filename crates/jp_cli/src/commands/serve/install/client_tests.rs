//! Where the files of the clients are.

use std::fmt::Write as _;

use super::*;

fn machine(os: Os) -> Machine {
    Machine {
        os,
        variable: match os {
            Os::Windows => |name| match name {
                "USERPROFILE" => Some("C:/u".into()),
                "APPDATA" => Some("C:/u/AppData/Roaming".into()),
                _ => None,
            },
            _ => |name| (name == "HOME").then(|| "/home/u".into()),
        },
    }
}

fn listed(machine: &Machine) -> String {
    let mut all = String::new();
    for client in Client::value_variants() {
        let file = client.user_file(machine).unwrap();
        writeln!(all, "{} {}", client.id(), file.display()).unwrap();
    }
    all
}

#[test]
fn the_files_are_where_the_clients_look() {
    assert_eq!(
        listed(&machine(Os::Linux)),
        "claude-code /home/u/.claude.json\n\
         claude-desktop /home/u/.config/Claude/claude_desktop_config.json\n\
         codex /home/u/.codex/config.toml\n\
         cursor /home/u/.cursor/mcp.json\n\
         vscode /home/u/.config/Code/User/mcp.json\n\
         copilot-cli /home/u/.copilot/mcp-config.json\n\
         zed /home/u/.config/zed/settings.json\n\
         goose /home/u/.config/goose/config.yaml\n\
         gemini-cli /home/u/.gemini/settings.json\n\
         opencode /home/u/.config/opencode/opencode.json\n"
    );
    let mac = listed(&machine(Os::Mac));
    let app = "/home/u/Library/Application Support";
    assert!(
        mac.contains(&format!(
            "desktop {app}/Claude/claude_desktop_config.json\n"
        )),
        "{mac}"
    );
    assert!(
        mac.contains(&format!("vscode {app}/Code/User/mcp.json\n")),
        "{mac}"
    );
    assert!(
        mac.contains("zed /home/u/.config/zed/settings.json\n"),
        "{mac}"
    );
    let windows = listed(&machine(Os::Windows));
    let app = "C:/u/AppData/Roaming";
    assert!(
        windows.contains(&format!(
            "desktop {app}/Claude/claude_desktop_config.json\n"
        )),
        "{windows}"
    );
    assert!(
        windows.contains(&format!("goose {app}/Block/goose/config/config.yaml\n")),
        "{windows}"
    );
    assert!(
        windows.contains("codex C:/u/.codex/config.toml\n"),
        "{windows}"
    );
}

#[test]
fn variables_of_the_clients_move_their_files() {
    let moved = Machine {
        os: Os::Linux,
        variable: |name| match name {
            "HOME" => Some("/home/u".into()),
            "XDG_CONFIG_HOME" => Some("/xdg".into()),
            "CODEX_HOME" => Some("/codex".into()),
            "CLAUDE_CONFIG_DIR" => Some("relative".into()),
            _ => None,
        },
    };
    let mac = Machine {
        os: Os::Mac,
        ..moved
    };
    let zed = Client::Zed.user_file(&mac).unwrap();
    assert_eq!(zed, Path::new("/home/u/.config/zed/settings.json"));
    let file = |client: Client| client.user_file(&moved).unwrap().display().to_string();
    assert_eq!(file(Client::Zed), "/xdg/zed/settings.json");
    assert_eq!(file(Client::Codex), "/codex/config.toml");
    assert_eq!(file(Client::ClaudeCode), "/home/u/.claude.json");
}

#[test]
fn names_are_those_of_the_command_line() {
    for client in Client::value_variants() {
        let value = client.to_possible_value().unwrap();
        assert_eq!(value.get_name(), client.id());
    }
}
