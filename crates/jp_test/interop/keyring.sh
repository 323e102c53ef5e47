#!/bin/sh
# The key of jp's secrets in a real keyring: gnome-keyring on a session bus of its own.
#
# keyring.sh JP: runs this JP as a user whose files are all in a directory that is removed afterwards.
# `cargo xtask interop` runs it; the keyring of whoever runs that is never reached.
set -eu

if [ "${1:-}" != inside ]; then
    jp=$1 here=$0
    # Not below the workspace: sockets lie in it, whose paths must be short.
    dir=$(mktemp -d)
    trap 'rm -rf "$dir"' EXIT
    mkdir -m 700 "$dir/run" "$dir/home"
    # A part is a session of the user: a bus, and on it a keyring that is unlocked, or is not.
    part() {
        env -i PATH="$PATH" HOME="$dir/home" XDG_RUNTIME_DIR="$dir/run" JP="$jp" \
            timeout 120 dbus-run-session -- sh "$here" inside "$1" 2>"$dir/$1.log" || {
            cat "$dir/$1.log" >&2
            exit 1
        }
    }
    part first
    part second
    part locked
    env -i PATH="$PATH" HOME="$dir/home" JP="$jp" sh "$here" inside without
    part lost
    exit 0
fi

key=$HOME/.config/jp/key/secrets
sealed=$HOME/.local/share/jp/secrets/sealed

fail() {
    echo "keyring: $*" >&2
    exit 1
}
ok() { echo "keyring: $*"; }
unlock() { printf 'a password' | gnome-keyring-daemon --unlock --components=secrets >/dev/null; }
# ends CODE TEXT COMMAND...: the command ends with the code and says the text.
ends() {
    expected=$1 text=$2
    shift 2
    code=0
    said=$("$@" 2>&1 </dev/null) || code=$?
    [ "$code" = "$expected" ] || fail "$*: exit code $code instead of $expected: $said"
    case $said in
        *"$text"*) ;;
        *) fail "$*: no \`$text\` in: $said" ;;
    esac
}
set_secret() { printf 'correct-horse' | "$JP" secret set "$1" --for https://forge.example.com; }
size() { wc -c <"$1" | tr -d ' '; }
service() {
    object=$1 method=$2
    shift 2
    dbus-send --session --print-reply --dest=org.freedesktop.secrets "$object" \
        "org.freedesktop.Secret.$method" "$@"
}

case $2 in
    first)
        unlock
        set_secret forge
        grep -q 'in the keyring: ' "$key" || fail "the key file does not name the keyring"
        ends 0 'forge.example.com' "$JP" secret list
        ends 0 'The key is in the keyring.' "$JP" secret list
        ends 0 '"key":"keyring"' sh -c '"$JP" secret list --json | tr -d " "'
        ends 0 'Everything is fine.' "$JP" doctor --offline
        ok "a new key lies in the keyring"
        ;;
    second)
        unlock
        ends 0 'forge.example.com' "$JP" secret list
        ok "it is there in the next session"
        ends 125 'the keyring is switched off' env JP_KEYRING=off "$JP" secret list
        ends 2 'invalid JP_KEYRING' env JP_KEYRING=of "$JP" secret list
        ends 0 'already' "$JP" secret move-key --to keyring
        ends 0 "The key is in $key now." "$JP" secret move-key --to file
        [ "$(size "$key")" = 32 ] || fail "the key file holds no key"
        if service /org/freedesktop/secrets Service.SearchItems \
            dict:string:string:application,jp | grep -q collection; then
            fail "the keyring still has the key"
        fi
        ends 0 'forge.example.com' env JP_KEYRING=off "$JP" secret list
        ends 0 'The key is in the keyring now.' "$JP" secret move-key --to keyring
        [ "$(size "$key")" != 32 ] || fail "the key file still holds a key"
        ends 0 'forge.example.com' "$JP" secret list
        ok "it moves to a file and back"
        env HOME="$HOME/off" JP_KEYRING=off sh -c '
            printf correct-horse | "$JP" secret set forge --for https://forge.example.com'
        [ "$(size "$HOME/off/.config/jp/key/secrets")" = 32 ] || fail "JP_KEYRING=off used it"
        ok "JP_KEYRING=off keeps a new key out of it"
        cp "$sealed" "$HOME/sealed"
        service /org/freedesktop/secrets Service.Lock \
            array:objpath:/org/freedesktop/secrets/collection/login >/dev/null
        ends 125 'the keyring is locked; unlock it' "$JP" secret list
        ends 125 'the keyring is locked' "$JP" secret move-key --to file
        ends 1 'unlock it' "$JP" doctor --offline
        if set_secret other 2>/dev/null; then
            fail "a secret was set without the key"
        fi
        cmp "$sealed" "$HOME/sealed"
        ok "a keyring that was locked is an error"
        ;;
    locked)
        # The bus starts the keyring, and nobody has typed a password.
        ends 125 'the keyring is locked' "$JP" secret list
        env HOME="$HOME/fresh" sh -c '
            printf correct-horse | "$JP" secret set forge --for https://forge.example.com'
        [ "$(size "$HOME/fresh/.config/jp/key/secrets")" = 32 ] || fail "no key in a file"
        ok "a new key does not wait for a password"
        ;;
    without)
        ends 125 'there is no session bus' "$JP" secret list
        ends 1 'DBUS_SESSION_BUS_ADDRESS' "$JP" doctor --offline
        ok "a session without a bus is an error for a key that is in the keyring"
        ;;
    lost)
        unlock
        item=$(service /org/freedesktop/secrets Service.SearchItems \
            dict:string:string:application,jp | sed -n 's/.*"\(.*login.*\)".*/\1/p')
        service "$item" Item.Delete >/dev/null
        ends 125 'is not there' "$JP" secret list
        ends 1 "mv -n $sealed $sealed.old && mv -n $key $key.old" "$JP" doctor --offline
        if set_secret other 2>/dev/null; then
            fail "a new key was made for old secrets"
        fi
        cmp "$sealed" "$HOME/sealed"
        mv -n "$sealed" "$sealed.old" && mv -n "$key" "$key.old"
        set_secret other
        ends 0 'The key is in the keyring.' "$JP" secret list
        ok "a key that was deleted there is an error, and the way out works"
        ;;
esac
