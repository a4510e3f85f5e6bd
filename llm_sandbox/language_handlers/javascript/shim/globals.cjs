'use strict';
// What this program uses of the global names, as they are before any code of the user's: a script
// may declare `process`, `Map` or `performance` at its top, and would hide them from here as well.

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
