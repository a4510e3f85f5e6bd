# A shift of letters, forth and back.
alphabet=abcdefghijklmnopqrstuvwxyz
shift_by() {
  local turned=${alphabet:$1}${alphabet:0:$1}
  tr "$alphabet${alphabet^^}" "$turned${turned^^}"
}
secret=$(echo 'Meet me at the Old Bridge' | shift_by 3)
echo "$secret"
echo "$secret" | shift_by 23
