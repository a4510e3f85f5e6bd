# The product of two matrices, kept in associative arrays.
declare -A a=() b=() product=()
fill() {
  local -n matrix=$1
  local width=$2 index=0 value
  shift 2
  for value in "$@"; do
    matrix[$((index / width)),$((index % width))]=$value
    ((++index))
  done
}
fill a 3 1 2 3 4 5 6
fill b 2 7 8 9 10 11 12
for row in 0 1; do
  for column in 0 1; do
    sum=0
    for inner in 0 1 2; do
      ((sum += ${a[$row,$inner]} * ${b[$inner,$column]}))
    done
    product[$row,$column]=$sum
  done
  echo "${product[$row,0]} ${product[$row,1]}"
done
