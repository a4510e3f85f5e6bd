# Binary search, with the number of steps it took.
numbers=()
for ((index = 0; index < 200; index++)); do
  numbers+=($((index * 3)))
done
find_number() {
  local low=0 high=$((${#numbers[@]} - 1)) steps=0 middle
  while ((low <= high)); do
    middle=$(((low + high) / 2))
    ((++steps))
    if ((numbers[middle] == $1)); then
      echo "$1 is at $middle after $steps steps"
      return 0
    elif ((numbers[middle] < $1)); then
      low=$((middle + 1))
    else
      high=$((middle - 1))
    fi
  done
  echo "$1 is not there after $steps steps"
  return 1
}
find_number 297
find_number 0
find_number 100 || echo "status $?"
