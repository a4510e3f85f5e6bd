'use strict';
// Pending operations of a run: its timers, reads, requests and child processes. A run waits for
// them as a program does, but not for servers, which later runs use.

const {
  Map,
  Math,
  Object,
  Promise,
  Set,
  WeakSet,
  clearImmediate,
  clearTimeout,
  process,
} = require('./globals.cjs');

const promises = require('timers/promises');
const timers = require('timers');
const { promisify } = require('util');

// Operations that a server waits for until it is stopped.
const SERVING = new Set([
  'TCPServerWrap',
  'PipeServerWrap',
  'UDPWrap',
  'TCPSERVERWRAP',
  'PIPESERVERWRAP',
  'UDPWRAP',
  'FSEventWrap',
  'FSEVENTWRAP',
  'StatWatcher',
  'STATWATCHER',
]);
const CONNECTIONS = new Set([
  'TCPSocketWrap',
  'TCPWRAP',
  'PipeWrap',
  'PIPEWRAP',
  'HTTPINCOMINGMESSAGE',
  'HTTPCLIENTREQUEST',
]);
const PRUNE_AT = 1000;

const native = {};
let known = new Set();
let pruneAt = PRUNE_AT;
let before = new Map();
const workers = new Set(); // threads, which Node does not list
let older = new Set(); // those of earlier runs
let ours = null;

function keep(timer) {
  known.add(timer);
  if (known.size > pruneAt) {
    known = new Set([...known].filter((each) => !each._destroyed));
    pruneAt = Math.max(PRUNE_AT, 2 * known.size);
  }
  return timer;
}

const left = new WeakSet(); // threads that nobody waits for

function isHeld(worker) {
  return !left.has(worker);
}

function watchWorker(worker) {
  if (worker === ours) return;
  workers.add(worker);
  worker.once('exit', () => workers.delete(worker));
  const { ref, unref } = worker;
  worker.ref = () => {
    left.delete(worker);
    ref.call(worker);
  };
  worker.unref = () => {
    left.add(worker);
    unref.call(worker);
  };
}

/** Names the thread that is not the user's. */
function disregard(worker) {
  ours = worker;
}

/** Records timers, so that those of an interrupted run can be cleared. */
function install() {
  const sleep = promises.setTimeout;
  promises.setTimeout = function setTimeout(delay, value, options) {
    if (options !== undefined) return sleep(delay, value, options);
    return new Promise((resolve) => {
      keep(native.setTimeout(resolve, delay, value));
    });
  };
  const promised = { setTimeout: promises.setTimeout, setImmediate: promises.setImmediate };
  for (const name of ['setTimeout', 'setInterval', 'setImmediate']) {
    const original = timers[name];
    native[name] = original;
    const replacement = { [name]: (...all) => keep(original(...all)) }[name];
    if (name in promised) {
      Object.defineProperty(replacement, promisify.custom, { value: promised[name] });
    }
    timers[name] = replacement;
    globalThis[name] = replacement;
  }
  require('module').syncBuiltinESMExports();
  process.on('worker', watchWorker);
}

function count() {
  const counts = new Map([['Worker', [...workers].filter(isHeld).length]]);
  for (const name of process.getActiveResourcesInfo()) {
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

/** Called when a run begins: what is there by now is not of it. */
function begin() {
  before = count();
  older = new Set(workers);
}

/** Returns whether operations of this run are pending, except those in `but`. */
function isWaiting(but) {
  const now = count();
  now.delete(but);
  const serves = [...now.keys()].some((name) => SERVING.has(name));
  for (const [name, number] of now) {
    if (SERVING.has(name) || (serves && CONNECTIONS.has(name))) continue;
    if (number > (before.get(name) ?? 0)) return true;
  }
  return false;
}

/** Ends what can be ended of a run that was interrupted or has asked to exit. */
function clear() {
  for (const timer of known) {
    if (timer.constructor?.name === 'Immediate') clearImmediate(timer);
    else clearTimeout(timer);
  }
  known.clear();
  for (const worker of workers) {
    if (isHeld(worker) && !older.has(worker)) worker.terminate();
  }
}

/** Forgets the timers of a run that has come to its own end. */
function end() {
  known.clear();
  pruneAt = PRUNE_AT;
}

module.exports = { begin, clear, disregard, end, install, isWaiting, native };
