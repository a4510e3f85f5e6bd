# The most frequent words of a text.
text='the cat and the dog and the bird: a cat, a dog, a bird, and THE end'
declare -A count=()
for word in ${text//[:,]/}; do
  word=${word,,}
  count[$word]=$((${count[$word]:-0} + 1))
done
for word in "${!count[@]}"; do
  printf '%d %s\n' "${count[$word]}" "$word"
done | sort -k1,1nr -k2 | head -n 4
