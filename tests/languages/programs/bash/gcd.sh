# Greatest common divisors, and fractions in lowest terms.
gcd() {
  local a=$1 b=$2
  while ((b)); do
    ((a %= b, a ^= b, b ^= a, a ^= b))
  done
  echo "$a"
}
reduce() {
  local top=${1%/*} bottom=${1#*/} common
  common=$(gcd "$top" "$bottom")
  echo "$1 = $((top / common))/$((bottom / common))"
}
for fraction in 6/8 45/60 17/51 100/75; do
  reduce "$fraction"
done
