// How often words come in a text, without case and marks.
const text = `The wind blew, and the wind blew; the sail — the old, grey sail — tore.
"Who mends a sail in the wind?" said Ægir. Nobody does, nobody did.`;

const counts = new Map();
for (const [word] of text.toLowerCase().matchAll(/\p{L}+/gu)) {
  counts.set(word, (counts.get(word) ?? 0) + 1);
}

const order = [...counts].sort(([a, m], [b, n]) => n - m || a.localeCompare(b, "en"));
for (const [word, count] of order.slice(0, 6)) {
  console.log(word.padEnd(7, "."), "#".repeat(count), count);
}
console.log([...counts.keys()].filter((word) => /[^a-z]/.test(word)));
