# A process beside the shell that answers line by line.
coproc DOUBLER {
  while read -r number; do
    echo $((number * 2))
  done
}
doubler=$DOUBLER_PID
for number in 4 21 500; do
  echo "$number" >&"${DOUBLER[1]}"
  read -r answer <&"${DOUBLER[0]}"
  echo "$number -> $answer"
done
eval "exec ${DOUBLER[1]}>&-"
wait "$doubler"
echo "ended with $?"
