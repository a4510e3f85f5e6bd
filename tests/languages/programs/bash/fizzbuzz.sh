# Fizz, buzz, and what comes between.
for number in {1..15}; do
  text=
  ((number % 3)) || text+=Fizz
  ((number % 5)) || text+=Buzz
  printf '%s ' "${text:-$number}"
done
printf '\n'
