'use strict';
// Global names that the shim uses, saved before any code of the user runs: a script may declare
// `process`, `Map` or `performance` at its top level, which would shadow them here as well.

const { performance } = require('perf_hooks');

const names = [
  'Array',
  'Atomics',
  'BigInt',
  'Boolean',
  'Buffer',
  'Date',
  'Error',
  'Int32Array',
  'JSON',
  'Map',
  'Math',
  'Number',
  'Object',
  'Promise',
  'Reflect',
  'SharedArrayBuffer',
  'Set',
  'String',
  'Symbol',
  'SyntaxError',
  'TypeError',
  'Uint8Array',
  'WeakMap',
  'WeakSet',
  'clearImmediate',
  'clearTimeout',
  'process',
  'setImmediate',
];

module.exports = Object.fromEntries(names.map((name) => [name, globalThis[name]]));
module.exports.performance = performance;
