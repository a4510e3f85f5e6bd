#!/bin/sh
# Builds a program from one source file: build.sh SOURCE
#
# The program is written beside the source as `main`. Called in the directory that the program runs
# in, whose headers the source may include. A program that was built from the same source before is
# taken from the cache, and what it includes first may have been compiled by `upkeep.sh`.
set -uf

shim=${0%/*}
source=$1
folder=${source%/*}
name=${source##*/}
work=$PWD
cache=${XDG_CACHE_HOME:-/tmp/.cache}/llm-sandbox-cpp
paths="${CPATH:-}:${CPLUS_INCLUDE_PATH:-}:${LIBRARY_PATH:-}:${LLM_SANDBOX_LINK_FILE:-}"
TMPDIR=$folder
export TMPDIR

refuse() {
    printf "%s:1:1: error: '%s' is not a flag that can be given here\n" "$name" "$1" >&2
    exit 1
}

# --- what the first line asks for

options='' libraries=''
IFS= read -r first < "$source" || :
case $first in
'// flags:'*)
    for word in $(printf '%s' "${first#// flags:}" | tr -d '\r'); do
        case $word in
        *[!A-Za-z0-9_=+./-]* | /* | *../*) refuse "$word" ;;
        -l?*) libraries="$libraries $word" ;;
        -O[0123sg] | -Ofast | -g | -march=native | -fopenmp | -fsanitize=undefined) ;;
        -D[A-Za-z_]* | -U[A-Za-z_]* | -W[a-z]*) ;;
        -std=c++[12][0-9a-z] | -std=gnu++[12][0-9a-z]) ;;
        -*) refuse "$word" ;;
        *.cpp | *.cc | *.cxx) ;;
        *) refuse "$word" ;;
        esac
        case $word in
        -l*) ;;
        *) options="$options $word" ;;
        esac
    done
    ;;
esac

# --- the same program as before

built=
# What stands in other files may change, as may the time.
directive='^[^<]*\b(include|include_next|import)\b[[:space:]]*([^<[:space:]]|<[./]|$)'
macro='__has_include|__(DATE|TIME|TIMESTAMP)__'
if ! grep -Eq "$directive|$macro|^// flags:.*\.c" "$source"; then
    key=$({ printf '%s\n' "$paths"; cat "$source"; } | sha256sum)
    built=$cache/programs/${key%% *}
    if [ -x "$built/main" ]; then
        ln "$built/main" "$folder/main" || cp "$built/main" "$folder/main" || exit 1
        touch "$built/main"
        [ ! -s "$built/words" ] || cat "$built/words" >&2
        exit 0
    fi
fi

# --- a new one

set -- "@$shim/options.txt" -pipe -iquote "$work"
if [ -z "$options" ]; then
    lines=$(awk -f "$shim/headers.awk" "$source")
    headers=$cache/headers/${lines%%
*}
    if [ -z "$lines" ]; then
        :
    elif [ -e "$headers/first.h.gch" ] && [ "$(cat "$headers/paths")" = "$paths" ]; then
        set -- "$@" -include "$headers/first.h"
    else
        mkdir -p "$cache"
        printf '%s\n' "$paths" "$lines" > "$cache/wanted"
    fi
fi
for word in $options; do
    case $word in
    -*) set -- "$@" "$word" ;;
    *) set -- "$@" "$work/$word" ;;
    esac
done
# shellcheck disable=SC2086 # a list of words
set -- "$@" "$name" -o main $libraries
[ -z "${LLM_SANDBOX_LINK_FILE:-}" ] || set -- "$@" "@$LLM_SANDBOX_LINK_FILE"
cd "$folder" || exit 1
g++ "$@" > words 2>&1
status=$?
if [ -s words ]; then
    # An object that the linker alone has seen is known as the source.
    sed -E -i "s#$folder/##g; s#\\bcc[A-Za-z0-9]{6}\\.o\\b#${name%.*}.o#g" words
    cat words >&2
fi
[ $status -eq 0 ] || exit $status
if [ -n "$built" ] && ! { mkdir -p "$built" && ln -f words main "$built"; } 2> /dev/null; then
    rm -rf "$built"
fi
