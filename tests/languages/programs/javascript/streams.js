// Streams in a pipeline: numbers, lines of text, a gzip there and back, and a hash.
import { createHash } from "node:crypto";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";

const upper = new Transform({
  transform(chunk, _encoding, done) {
    done(null, chunk.toString().toUpperCase());
  },
});

const pieces = [];
await pipeline(
  Readable.from(["one\n", "two\n", "three\n"]),
  upper,
  createGzip(),
  createGunzip(),
  async function collect(source) {
    for await (const chunk of source) pieces.push(chunk);
  },
);
const whole = Buffer.concat(pieces).toString();
console.log(JSON.stringify(whole));
console.log(createHash("sha256").update(whole).digest("hex").slice(0, 16));

const squares = await Readable.from([1, 2, 3, 4]).filter((x) => x % 2 === 0).map((x) => x ** 2).toArray();
console.log(squares);
await pipeline(Readable.from(["x"]), async function* fail() {
  throw new Error("broken pipe, as asked");
}, process.stdout).catch((error) => console.log(error.message));
