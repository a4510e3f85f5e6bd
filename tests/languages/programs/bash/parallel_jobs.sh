# Work done in the background at the same time, gathered in order.
square() {
  sleep "0.0$((5 - $1))"
  echo "$1 squared is $(($1 * $1))"
}
folder=$(mktemp -d)
pids=()
for number in 1 2 3 4; do
  square "$number" >"$folder/$number" &
  pids+=("$!")
done
failed=0
for pid in "${pids[@]}"; do
  wait "$pid" || ((++failed))
done
cat "$folder"/*
rm -r -- "$folder"
echo "failed: $failed"
