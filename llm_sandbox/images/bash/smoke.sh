#!/bin/bash
# Fails unless the image holds what a Bash session needs; runs inside the finished image.
set -euo pipefail

fail() {
  echo "$*" >&2
  exit 1
}

for program in awk bc column cut find gawk grep head jq ps sed sort tail tr uniq xargs; do
  command -v "$program" >/dev/null || fail "$program is not there"
done
total=$(printf '%s\n' '[{"n": 1}, {"n": 41}]' | jq 'map(.n) | add')
[[ $total == 42 ]] || fail "jq says $total"
root=$(bc -l <<<'scale=3; sqrt(2)')
[[ $root == 1.414 ]] || fail "bc says $root"
[[ $(gawk 'BEGIN { print toupper("é") }') == É ]] || fail "gawk does not know UTF-8"
declare -A counts=()
while read -r word; do
  ((counts[$word] += 1))
done < <(tr ' ' '\n' <<<'to be or not to be')
[[ ${counts[be]} == 2 ]] || fail 'no arrays by name'
printf 'bash  %s\njq    %s\n' "$BASH_VERSION" "$(jq --version)"
