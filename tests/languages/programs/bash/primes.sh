# The primes up to a limit, by crossing out.
limit=60
declare -a crossed=()
primes=()
for ((number = 2; number <= limit; number++)); do
  [[ -z ${crossed[number]-} ]] || continue
  primes+=("$number")
  for ((multiple = number * number; multiple <= limit; multiple += number)); do
    crossed[multiple]=1
  done
done
echo "${#primes[@]}: ${primes[*]}"
