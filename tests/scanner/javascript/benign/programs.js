//: generator pipeline
function* naturals() { let n = 1; while (true) yield n++; }
function* take(xs, n) { for (const x of xs) { if (n-- <= 0) return; yield x; } }
console.log([...take(naturals(), 5)]);
//: currying
const curry = (f, ...a) => a.length >= f.length ? f(...a) : (...b) => curry(f, ...a, ...b);
console.log(curry((a, b, c) => a + b + c)(1)(2)(3));
//: hash
const { createHash } = require('crypto');
console.log(createHash('sha256').update('x').digest('hex'));
//: compression
const zlib = require('zlib');
console.log(zlib.gunzipSync(zlib.gzipSync('hello')).toString());
//: worker pool by promises
async function pool(tasks, n) {
  const out = []; const run = async () => { while (tasks.length) out.push(await tasks.shift()()); };
  await Promise.all(Array.from({ length: n }, run));
  return out;
}
pool([async () => 1, async () => 2], 2).then(console.log);
//: errors
try { JSON.parse('{'); } catch ({ name, message }) { console.log(name, message); } finally { console.log('done'); }
//: typed arrays
const f = new Float64Array(4).map((_, i) => i * 0.5);
console.log(f.buffer.byteLength, new DataView(f.buffer).getFloat64(8, true));
//: tree
const tree = { v: 1, kids: [{ v: 2, kids: [] }, { v: 3, kids: [] }] };
const sum = (t) => t.v + t.kids.reduce((s, k) => s + sum(k), 0);
console.log(sum(tree));
//: test assertions
const assert = require('assert');
assert.deepStrictEqual([1, 2].map((x) => x * 2), [2, 4]);
//: sets
const a = new Set([1, 2, 3]), b = new Set([2, 3, 4]);
console.log([...a].filter((x) => b.has(x)), Object.groupBy?.([1, 2, 3], (x) => x % 2));
