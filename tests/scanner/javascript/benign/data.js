//: read a file
const fs = require('fs');
const text = fs.readFileSync('data.csv', 'utf8');
console.log(text.split('\n').length);
//: write a result
import { writeFileSync, existsSync, mkdirSync } from 'node:fs';
if (!existsSync('out')) mkdirSync('out');
writeFileSync('out/result.json', JSON.stringify({ ok: true }, null, 2));
//: streams
const { createReadStream } = require('fs');
const readline = require('readline');
const lines = readline.createInterface({ input: createReadStream('data.txt') });
lines.on('line', (line) => console.log(line.length));
//: promises of files
import { readFile } from 'fs/promises';
import path from 'path';
const file = path.join('data', 'x.json');
readFile(file, 'utf8').then(JSON.parse).then((d) => console.log(Object.keys(d)));
//: group and sum
const sales = [{ r: 'n', v: 1 }, { r: 's', v: 2 }, { r: 'n', v: 3 }];
const total = sales.reduce((acc, { r, v }) => ({ ...acc, [r]: (acc[r] ?? 0) + v }), {});
console.log(total);
//: statistics
const xs = [2, 4, 4, 4, 5, 5, 7, 9];
const mean = xs.reduce((a, b) => a + b) / xs.length;
console.log(mean, Math.sqrt(xs.reduce((s, x) => s + (x - mean) ** 2, 0) / xs.length));
//: JSON
const data = JSON.parse('{"process": {"env": 1}, "exec": [1, 2]}');
const { process: p, exec: [first] } = data;
console.log(p.env, first);
//: temporary file
const fs = require('fs'), os = require('os'), path = require('path');
fs.writeFileSync('/tmp/scratch.txt', 'x');
fs.writeFileSync(path.join(os.tmpdir(), 'y.txt'), 'y');
//: bar chart
const values = { a: 3, b: 7 };
for (const [k, v] of Object.entries(values)) console.log(k.padEnd(5), '#'.repeat(v));
//: svg
const points = [[0, 1], [1, 3], [2, 2]];
const pathData = points.map(([x, y], i) => `${i ? 'L' : 'M'}${x * 50} ${100 - y * 20}`).join(' ');
require('fs').writeFileSync('chart.svg', `<svg xmlns="http://www.w3.org/2000/svg"><path d="${pathData}"/></svg>`);
//: linear regression
const pts = [[1, 2], [2, 4.1], [3, 5.9]];
const n = pts.length, sx = pts.reduce((s, p) => s + p[0], 0), sy = pts.reduce((s, p) => s + p[1], 0);
const sxy = pts.reduce((s, p) => s + p[0] * p[1], 0), sxx = pts.reduce((s, p) => s + p[0] ** 2, 0);
console.log((n * sxy - sx * sy) / (n * sxx - sx * sx));
//: promises together
const wait = (ms, v) => new Promise((done) => setTimeout(() => done(v), ms));
Promise.all([wait(1, 'a'), wait(2, 'b')]).then(console.log);
