#!/bin/sh
# Maintenance between runs: precompiles the leading headers of the last program, which takes longer
# than compiling a program, and removes cached programs that were not run recently.
set -u

shim=${0%/*}
cache=${XDG_CACHE_HOME:-/tmp/.cache}/llm-sandbox-cpp
place=$cache/headers
wanted=$cache/wanted
programs=$cache/programs
most_programs_kib=8192
ample_kib=131072
least_kib=32768
least_memory_kib=917504

free_kib() {
    df -Pk "$1" | awk 'NR == 2 { print $4 }'
}

if [ -d "$programs" ]; then
    find "$programs" -name main -printf '%T@ %k %h\n' | sort -rn |
        awk -v most=$most_programs_kib '(total += $2) > most { print $3 }' | xargs -r rm -rf
fi

[ -e "$wanted" ] || exit
paths=$(sed -n 1p "$wanted")
key=$(sed -n 2p "$wanted")
lines=$(tail -n +3 "$wanted")
rm -f "$wanted"
if [ -e "$place/$key/first.h.gch" ] && [ "$(cat "$place/$key/paths")" = "$paths" ]; then
    exit
fi
# shellcheck disable=SC3045 # the shells of Debian and of BusyBox know this limit
memory=$(ulimit -d)
[ "$memory" = unlimited ] || [ "$memory" -ge $least_memory_kib ] || exit
if [ ! -e "$place" ]; then
    # A compiled header takes tens of megabytes, which few programs miss where shared memory is.
    if [ "$(free_kib "$cache")" -lt $ample_kib ] &&
        own=$(mktemp -d /dev/shm/.llm-sandbox-XXXXXX); then
        ln -s "$own" "$place"
    else
        mkdir "$place"
    fi
fi
# One at a time: what was compiled before makes room.
find "$place/" -mindepth 1 -maxdepth 1 -exec rm -rf {} +
free=$(free_kib "$place/")
[ "$free" -ge $least_kib ] || exit
new=$place/new
mkdir "$new"
printf '%s\n' "$lines" > "$new/first.h"
printf '%s\n' "$paths" > "$new/paths"
# A quarter of the room stays free; the limit counts blocks of 512 bytes.
if (
    ulimit -f $((free * 3 / 2))
    TMPDIR=$new
    export TMPDIR
    exec nice -n 19 g++ "@$shim/options.txt" -x c++-header "$new/first.h" -o "$new/first.h.gch"
) > /dev/null 2>&1; then
    mv "$new" "$place/$key"
else
    rm -rf "$new"
fi
