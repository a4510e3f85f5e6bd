// Sorting by several keys, stable and by language; groups, and a merge sort that counts inversions.
const people = [
  { name: "Zoë", age: 31 },
  { name: "adam", age: 25 },
  { name: "Bo", age: 31 },
  { name: "Éva", age: 25 },
];
const collator = new Intl.Collator("en", { sensitivity: "base" });
const sorted = [...people].sort((one, other) => other.age - one.age || collator.compare(one.name, other.name));
console.log(sorted.map(({ name, age }) => `${name} ${age}`).join(", "));

const groups = people.reduce((found, { name, age }) => ({ ...found, [age]: [...(found[age] ?? []), name] }), {});
console.log(groups);
console.log([10, 9, 1].sort(), [10, 9, 1].sort((a, b) => a - b));

function inversions(values) {
  if (values.length < 2) return [values, 0];
  const half = values.length >> 1;
  const [left, before] = inversions(values.slice(0, half));
  const [right, after] = inversions(values.slice(half));
  const merged = [];
  let [i, j, across] = [0, 0, 0];
  while (i < left.length || j < right.length) {
    if (j >= right.length || (i < left.length && left[i] <= right[j])) merged.push(left[i++]);
    else {
      merged.push(right[j++]);
      across += left.length - i;
    }
  }
  return [merged, before + after + across];
}
console.log(inversions([3, 1, 4, 1, 5, 9, 2, 6]));
