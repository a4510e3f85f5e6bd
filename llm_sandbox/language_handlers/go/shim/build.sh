#!/bin/sh
# Builds a program from one source file: build.sh SOURCE
#
# The program is written beside the source as `main`. Called in the directory that the program runs
# in: the compiler treats the source as if it were there, so that its module and embedded files are
# found. A program that was built from the same source before is taken from the cache.
set -uf

source=$1
folder=${source%/*}
name=${source##*/}
work=$PWD
cache=${XDG_CACHE_HOME:-/tmp/.cache}/llm-sandbox-go
programs=$cache/programs
# An image may bring the standard library compiled, which Go 1.20 and later leave to the first build.
compiled=${LLM_SANDBOX_GO_COMPILED:-/usr/local/lib/llm-sandbox/go-build}
modules=${LLM_SANDBOX_GO_MODULES:-}

# --- the same program as before

built=
# What stands in other files may change.
others='//go:embed|^[[:space:]]*(import[[:space:]]+)?"C"'
if [ ! -e "$work/go.mod" ] && ! grep -Eq "$others" "$source"; then
    key=$({ printf '%s\n' "$modules" "${GOFLAGS:-}"; cat "$source"; } | sha256sum)
    built=$programs/${key%% *}
    if [ -x "$built/main" ]; then
        ln "$built/main" "$folder/main" || cp "$built/main" "$folder/main" || exit 1
        touch "$built/main"
        exit 0
    fi
fi

# --- a new one

export GOCACHE="${GOCACHE:-$cache/build}"
export GOPATH="${GOPATH:-$cache/path}"
export GOTMPDIR="$folder"
export GOPROXY="${GOPROXY:-off}"
export GOTOOLCHAIN=local
if [ ! -d "$GOCACHE" ] && [ -d "$compiled" ]; then
    mkdir -p "$GOCACHE"
    cp -rs "$compiled/." "$GOCACHE"
    find "$GOCACHE" -type d -exec chmod u+w {} +
    # As if it had been rid of what is old: an image is older than Go keeps things.
    rm -f "$GOCACHE/trim.txt"
    date +%s > "$GOCACHE/trim.txt"
fi

quoted() {
    printf '"%s"' "$(printf '%s' "$1" | sed 's/[\\"]/\\&/g')"
}

set --
replaced="$(quoted "$work/$name"): $(quoted "$source")"
if [ -n "$modules" ] && [ ! -e "$work/go.mod" ]; then
    cp "$modules/go.mod" "$folder"
    replaced="$replaced, $(quoted "$work/go.mod"): $(quoted "$folder/go.mod")"
    if [ -e "$modules/go.sum" ]; then
        cp "$modules/go.sum" "$folder"
        replaced="$replaced, $(quoted "$work/go.sum"): $(quoted "$folder/go.sum")"
    fi
    set -- -mod=mod
fi
printf '{"Replace": {%s}}\n' "$replaced" > "$folder/overlay.json"
go build -overlay "$folder/overlay.json" -p 4 -buildvcs=false -ldflags=-s\ -w "$@" \
    -o "$folder/main" "$name" > "$folder/words" 2>&1
status=$?
[ ! -s "$folder/words" ] || sed "s#$folder/#./#g" "$folder/words" >&2
[ $status -eq 0 ] || exit $status
if [ ! -x "$folder/main" ]; then
    printf '%s:1:1: package command-line-arguments is not a main package\n' "$name" >&2
    exit 1
fi
if [ -n "$built" ] && ! { mkdir -p "$built" && ln -f "$folder/main" "$built"; } 2> /dev/null; then
    rm -rf "$built"
fi
