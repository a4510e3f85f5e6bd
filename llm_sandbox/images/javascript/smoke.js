#!/usr/bin/env node
// Fails unless the image holds what a JavaScript or TypeScript session needs; runs inside the
// finished image.
'use strict';

const assert = require('node:assert');
const { execFileSync } = require('node:child_process');
const { readFileSync, writeFileSync } = require('node:fs');
const { Worker } = require('node:worker_threads');
const d3 = require('d3');
const { JSDOM } = require('jsdom');

assert.equal(new Intl.DateTimeFormat('de', { month: 'long' }).format(new Date(2024, 2, 1)), 'März');
assert.match('naïve', /^\p{L}+$/u);
assert.ok(typeof fetch === 'function' && typeof structuredClone === 'function');

const { document } = new JSDOM('<body></body>').window;
d3.select(document.body).append('svg').append('circle').attr('r', d3.scaleLinear()(0.5));
assert.equal(document.body.innerHTML, '<svg><circle r="0.5"></circle></svg>');

writeFileSync('smoke.ts', 'const n: number = 41; enum Step { One = 1 }; console.log(n + Step.One);\n');
execFileSync('tsc', ['--strict', 'smoke.ts']);
assert.match(readFileSync('smoke.js', 'utf8'), /41/);
assert.equal(execFileSync(process.execPath, ['smoke.js'], { encoding: 'utf8' }), '42\n');
writeFileSync('wrong.ts', 'const n: number = "text";\n');
assert.throws(() => execFileSync('tsc', ['wrong.ts']), (error) => /TS2322/.test(error.stdout));

const worker = new Worker('require("node:worker_threads").parentPort.postMessage(6 * 7)', {
  eval: true,
});
worker.once('message', (answer) => {
  assert.equal(answer, 42);
  console.log(`node        ${process.versions.node}`);
  console.log(`typescript  ${execFileSync('tsc', ['--version'], { encoding: 'utf8' }).trim()}`);
});
