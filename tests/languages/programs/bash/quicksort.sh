# Sorting in place, by recursion.
sort_range() {
  local low=$1 high=$2
  ((low < high)) || return 0
  local pivot=${items[high]} store=$low index swap
  for ((index = low; index < high; index++)); do
    if ((items[index] < pivot)); then
      swap=${items[index]} items[index]=${items[store]} items[store]=$swap
      ((++store))
    fi
  done
  swap=${items[store]} items[store]=${items[high]} items[high]=$swap
  sort_range "$low" $((store - 1))
  sort_range $((store + 1)) "$high"
}
items=(42 7 -3 99 0 15 7 1024 -3 8)
sort_range 0 $((${#items[@]} - 1))
echo "${items[@]}"
