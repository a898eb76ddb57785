#!/bin/sh
# Installs Steadfast @VERSION@ for one user: checks the archive against its checksum, and puts the program into `~/.local/bin`.
#
#   sh install.sh [--prefix FOLDER] [--from FOLDER-OR-URL]
#
# --prefix  puts the program into FOLDER/bin; `~/.local` by default
# --from    where the archive and SHA256SUMS are: a folder of this machine, or one on the web (https)
set -eu

version='@VERSION@'
from='@FROM@'

main() {
    prefix=${HOME:+$HOME/.local}
    while [ $# -gt 0 ]; do
        case $1 in
            --prefix) prefix=$(value "$@") ;;
            --from) from=$(value "$@") ;;
            -h | --help) help && exit 0 ;;
            *) fail "unknown option \`$1\`" '`--help` lists the options' ;;
        esac
        shift 2
    done
    [ -n "$prefix" ] || fail 'HOME is not set, so there is no place to install to' '`--prefix FOLDER` names one'
    # The path is printed for the profile of a shell, which starts elsewhere.
    case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac

    archive="steadfast-$version-$(triple).tar.gz"
    [ -n "$from" ] || from=$(dirname "$0")
    work=$(mktemp -d)
    fresh=
    trap 'rm -rf "$work"; [ -z "$fresh" ] || rm -f "$fresh"' EXIT
    trap 'exit 1' HUP INT TERM
    get SHA256SUMS
    get "$archive"
    check "$archive"
    tar -xzf "$work/$archive" -C "$work"
    install_program "$work/${archive%.tar.gz}/steadfast" "$prefix/bin"
}

help() {
    echo 'usage: sh install.sh [--prefix FOLDER] [--from FOLDER-OR-URL]'
    echo
    echo '  --prefix FOLDER       put the program into FOLDER/bin [default: ~/.local]'
    echo '  --from FOLDER-OR-URL  where the archive and SHA256SUMS are'
}

fail() {
    printf 'error: %s\n' "$1" >&2
    [ $# -lt 2 ] || printf '\nhint: %s\n' "$2" >&2
    exit 1
}

value() {
    [ $# -gt 1 ] && [ -n "$2" ] || fail "\`$1\` requires a value"
    printf '%s\n' "$2"
}

has() {
    command -v "$1" >/dev/null 2>&1
}

# The name of this machine, as in the names of the archives.
triple() {
    case $(uname -s) in
        Linux) system=unknown-linux-gnu ;;
        Darwin) system=apple-darwin ;;
        *) fail "there is no archive for $(uname -s)" ;;
    esac
    case $(uname -m) in
        x86_64 | amd64) echo "x86_64-$system" ;;
        aarch64 | arm64) echo "aarch64-$system" ;;
        *) fail "there is no archive for a $(uname -m) processor" ;;
    esac
}

get() {
    case $from in
        https://*)
            if has curl; then
                curl --proto '=https' --fail --silent --show-error --location --output "$work/$1" "$from/$1"
            elif has wget; then
                wget -q -O "$work/$1" "$from/$1"
            else
                fail 'curl or wget is required to download' '`--from FOLDER` installs what you downloaded yourself'
            fi || fail "cannot download $from/$1"
            ;;
        *://*) fail "$from is no https address" ;;
        *)
            [ -f "$from/$1" ] || fail "$from/$1 does not exist" '`--from` names the folder of the archive and SHA256SUMS'
            cp "$from/$1" "$work/$1"
            ;;
    esac
}

check() {
    expected=
    while read -r sum name; do
        [ "$name" != "$1" ] || expected=$sum
    done <"$work/SHA256SUMS"
    [ -n "$expected" ] || fail "SHA256SUMS does not name $1"
    found=$(checksum "$work/$1")
    found=${found%% *}
    [ "$found" = "$expected" ] || fail "the checksum of $1 is $found, not $expected: nothing is installed"
}

checksum() {
    if has sha256sum; then
        sha256sum <"$1"
    elif has shasum; then
        shasum -a 256 <"$1"
    else
        fail 'sha256sum or shasum is required to check the archive'
    fi
}

install_program() {
    mkdir -p "$2"
    # A program that runs cannot be written to, only replaced.
    fresh=$2/.steadfast.$$
    cp "$1" "$fresh"
    chmod 755 "$fresh"
    "$fresh" -V >/dev/null || fail 'the program does not run on this machine: nothing is installed'
    mv -f "$fresh" "$2/steadfast"
    echo "steadfast $version is installed: $2/steadfast"
    case ":$PATH:" in
        *":$2:"*)
            first=$(command -v steadfast || true)
            [ "$first" = "$2/steadfast" ] || echo "note: on your PATH, $first comes before it"
            ;;
        *)
            echo 'Its folder is not on your PATH. Add this line to the profile of your shell (~/.profile, ~/.bashrc, ~/.zshrc):'
            printf '  export PATH="%s:$PATH"\n' "$2"
            ;;
    esac
    echo 'Next: `steadfast demo` shows it, `steadfast init` sets it up in a repository.'
}

# At the end: of a script that was cut off on its way here, nothing runs.
main "$@"
