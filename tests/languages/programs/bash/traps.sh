# Signals and errors that are caught.
caught=()
trap 'caught+=(usr1)' USR1
kill -USR1 "$BASHPID"
kill -USR1 "$BASHPID"
trap - USR1
echo "caught ${caught[*]}"
(
  trap 'echo "leaving with $?"' EXIT
  trap 'echo "failed: $BASH_COMMAND"' ERR
  false
  exit 6
)
echo "outside $?"
