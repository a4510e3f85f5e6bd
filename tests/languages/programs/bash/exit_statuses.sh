# The statuses of background jobs and of the parts of a pipeline.
(exit 3) &
first=$!
(sleep 0.02; exit 5) &
second=$!
wait "$first"
echo "first $?"
wait "$second"
echo "second $?"
true | (exit 4) | cat >/dev/null
echo "parts ${PIPESTATUS[*]}"
if ! grep -q absent <<<'nothing here'; then
  echo "not found"
fi
