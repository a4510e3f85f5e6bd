// All paths to the leaves of a document, and what a round trip through text loses.
const document_ = {
  name: "box",
  size: { width: 3, height: 4.5 },
  tags: ["red", null, { deep: [true, false] }],
  gone: undefined,
  when: new Date(Date.UTC(2020, 1, 29)),
};

function* leaves(value, path = "$") {
  if (value === null || typeof value !== "object" || value instanceof Date) {
    yield [path, value];
    return;
  }
  for (const [key, inner] of Object.entries(value)) {
    yield* leaves(inner, Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`);
  }
}

for (const [path, value] of leaves(document_)) console.log(path, "=", value);
const copy = JSON.parse(JSON.stringify(document_));
console.log("gone" in copy, typeof copy.when, JSON.stringify(copy.tags));
console.log(JSON.stringify({ b: 1, a: [1, { c: 2 }] }, null, 2));
