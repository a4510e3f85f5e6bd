# The shortest way through a maze.
maze=(
  'S.#.....'
  '..#.###.'
  '.##.#...'
  '....#.#E'
)
declare -A from=()
queue=()
for row in "${!maze[@]}"; do
  for ((column = 0; column < ${#maze[row]}; column++)); do
    if [[ ${maze[row]:column:1} == S ]]; then
      queue+=("$row $column")
      from["$row $column"]=start
    fi
  done
done
while ((${#queue[@]})); do
  place=${queue[0]}
  queue=("${queue[@]:1}")
  read -r row column <<<"$place"
  if [[ ${maze[row]:column:1} == E ]]; then
    break
  fi
  for step in '-1 0' '1 0' '0 -1' '0 1'; do
    read -r down right <<<"$step"
    ((next_row = row + down, next_column = column + right)) || :
    ((next_row >= 0 && next_row < ${#maze[@]})) || continue
    ((next_column >= 0 && next_column < ${#maze[next_row]})) || continue
    [[ ${maze[next_row]:next_column:1} != '#' ]] || continue
    [[ -z ${from["$next_row $next_column"]-} ]] || continue
    from["$next_row $next_column"]=$place
    queue+=("$next_row $next_column")
  done
done
length=0
while [[ ${from[$place]} != start ]]; do
  place=${from[$place]}
  ((++length))
done
echo "steps: $length"
