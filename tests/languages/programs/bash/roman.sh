# Roman numerals, both ways.
values=(1000 900 500 400 100 90 50 40 10 9 5 4 1)
letters=(M CM D CD C XC L XL X IX V IV I)
to_roman() {
  local number=$1 index text=''
  for index in "${!values[@]}"; do
    while ((number >= values[index])); do
      text+=${letters[index]}
      ((number -= values[index]))
    done
  done
  printf '%s\n' "$text"
}
from_roman() {
  local text=$1 index sum=0
  for index in "${!values[@]}"; do
    while [[ $text == "${letters[index]}"* ]]; do
      ((sum += values[index]))
      text=${text#"${letters[index]}"}
    done
  done
  printf '%d\n' "$sum"
}
for number in 4 9 14 90 1987 2024; do
  roman=$(to_roman "$number")
  echo "$number $roman $(from_roman "$roman")"
done
