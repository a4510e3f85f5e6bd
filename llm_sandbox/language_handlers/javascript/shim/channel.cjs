'use strict';
// Channel of messages between this process and the wrapper kernel; see guest/fields.py.

const {
  Atomics,
  Buffer,
  Int32Array,
  Number,
  SharedArrayBuffer,
  setImmediate,
} = require('./globals.cjs');

const fs = require('fs');

const REQUESTS = 3;
const ANSWERS = 4;
const CHUNK = 1 << 16;

// The user's code may replace what `fs` and `Buffer` hold.
const { read, readSync, writeSync } = fs;
const { allocUnsafe, concat, from } = Buffer;

let held = Buffer.alloc(0);
let running = false;

/** Takes one message from what has been read; null when it is not complete. */
function take() {
  const fields = {};
  let at = 0;
  for (;;) {
    const end = held.indexOf(10, at);
    if (end < 0) return null;
    if (end === at) {
      held = held.subarray(end + 1);
      if (fields.kind === 'run') running = true;
      return fields;
    }
    const head = held.latin1Slice(at, end);
    const space = head.lastIndexOf(' ');
    const after = end + 1 + Number(head.slice(space + 1));
    if (held.length <= after) return null;
    fields[head.slice(0, space)] = held.utf8Slice(end + 1, after);
    at = after + 1;
  }
}

function add(buffer, count) {
  const data = buffer.subarray(0, count);
  held = held.length ? concat([held, data]) : data;
}

/** Waits for the rest of a message; nothing else happens meanwhile. Null at the end. */
function receiveSync() {
  for (;;) {
    const message = take();
    if (message !== null) return message;
    const buffer = allocUnsafe(CHUNK);
    const count = readSync(REQUESTS, buffer, 0, CHUNK, null);
    if (count === 0) return null;
    add(buffer, count);
  }
}

/** Calls back with the next message, while the event loop goes on; with null at the end. */
function receive(callback) {
  if (held.length) {
    setImmediate(() => callback(receiveSync()));
    return;
  }
  const buffer = allocUnsafe(CHUNK);
  read(REQUESTS, buffer, 0, CHUNK, null, (error, count) => {
    if (error || count === 0) {
      callback(null);
      return;
    }
    add(buffer, count);
    callback(receiveSync());
  });
}

/** Writes all of a buffer, whatever the descriptor takes at a time. */
function writeAll(fd, data) {
  let at = 0;
  while (at < data.length) {
    try {
      at += writeSync(fd, data, at, data.length - at);
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}

/** Sends a message: its kind, and pairs of a name and a text or bytes. */
function send(kind, pairs = []) {
  const pieces = [];
  for (const [name, value] of [['kind', kind], ...pairs]) {
    const data = typeof value === 'string' ? from(value, 'utf8') : value;
    pieces.push(from(`${name} ${data.length}\n`), data, from('\n'));
  }
  pieces.push(from('\n'));
  if (kind === 'done') running = false;
  writeAll(ANSWERS, concat(pieces));
}

/**
 * Sends a message and waits until it has been taken, in order with what was printed. Between runs,
 * where a server may still want to show something, there is nobody to take it.
 */
function sendAndWait(kind, pairs) {
  if (!running) return;
  send(kind, pairs);
  for (;;) {
    const answer = receiveSync();
    if (answer === null || answer.kind === 'ack') return;
  }
}

module.exports = { receive, send, sendAndWait, writeAll };
