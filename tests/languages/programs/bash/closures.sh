# Functions made at run time, each with its own value.
make_adder() {
  eval "$1() { echo \$((\$1 + $2)); }"
}
make_adder add_five 5
make_adder add_hundred 100
apply() {
  local function=$1 value
  shift
  for value in "$@"; do
    "$function" "$value"
  done | paste -sd ' '
}
apply add_five 1 2 3
apply add_hundred 1 2 3
compose() { "$1" "$("$2" "$3")"; }
compose add_five add_hundred 1
