#!/bin/sh
# Maintenance between runs: limits the caches by removing programs that were not run recently, and
# packages that were compiled after those of the first program.
set -u

cache=${XDG_CACHE_HOME:-/tmp/.cache}/llm-sandbox-go
programs=$cache/programs
packages=${GOCACHE:-$cache/build}
begun=$cache/begun
most_programs_kib=12288
most_packages_kib=24576

if [ -d "$programs" ]; then
    find "$programs" -name main -printf '%T@ %k %h\n' | sort -rn |
        awk -v most=$most_programs_kib '(total += $2) > most { print $3 }' | xargs -r rm -rf
fi

# A caller's own cache is the caller's.
[ -z "${GOCACHE:-}" ] && [ -d "$packages" ] || exit
if [ ! -e "$begun" ]; then
    touch "$begun"
elif [ "$(du -sk "$packages" | cut -f 1)" -gt $most_packages_kib ]; then
    find "$packages" -type f -newer "$begun" -delete
fi
