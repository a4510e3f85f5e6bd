# A text with places that are filled in.
fill_in() {
  local text=$1 name
  while [[ $text =~ \{\{([a-z_]+)\}\} ]]; do
    name=${BASH_REMATCH[1]}
    text=${text//"{{$name}}"/"${values_of[$name]-?}"}
  done
  printf '%s\n' "$text"
}
declare -A values_of=([customer]=Grace [items]=3 [total]='12.50')
fill_in "$(cat <<'TEXT'
Dear {{customer}},
your {{items}} items cost {{total}} ({{currency}}).
Bye, {{customer}}!
TEXT
)"
