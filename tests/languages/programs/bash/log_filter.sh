# Counts and times of a log, by regular expressions.
declare -A level=()
slow=()
while read -r line; do
  [[ $line =~ ^([0-9:]+)\ (INFO|WARN|ERROR)\ ([a-z/]+)\ ([0-9]+)ms$ ]] || {
    echo "not understood: $line"
    continue
  }
  ((++level[${BASH_REMATCH[2]}]))
  if ((BASH_REMATCH[4] > 100)); then
    slow+=("${BASH_REMATCH[3]}@${BASH_REMATCH[1]}")
  fi
done <<'LOG'
10:00:01 INFO /home 12ms
10:00:02 WARN /cart 150ms
broken line
10:00:05 ERROR /pay 900ms
10:00:09 INFO /home 9ms
LOG
echo "info ${level[INFO]} warn ${level[WARN]} error ${level[ERROR]}"
printf 'slow: %s\n' "${slow[@]}"
