'use strict';
// JavaScript shim: runs cells, one after another, in one persistent process. See guest/wrapper.py
// for the protocol, and evaluate.cjs for the evaluation of code.

const {
  Atomics,
  Error,
  Int32Array,
  Math,
  Number,
  Object,
  Promise,
  Reflect,
  SharedArrayBuffer,
  String,
  SyntaxError,
  performance,
  process,
  setImmediate,
} = require('./globals.cjs');

const path = require('path');
const vm = require('vm');
const { Worker } = require('worker_threads');

const channel = require('./channel.cjs');
const displays = require('./displays.cjs');
const errors = require('./errors.cjs');
const modules = require('./modules.cjs');
const pending = require('./pending.cjs');
const streams = require('./streams.cjs');
const { evaluate, forget, stop } = require('./evaluate.cjs');
const { loosen, redeclare } = require('./declarations.cjs');
const { rewriteModules } = require('./source.cjs');

const IS_TYPED = process.argv[2] === 'typescript';
const TITLE = IS_TYPED ? 'main.ts' : 'main.js';
const POLL_MS = [1, 2, 4, 8, 16];
const TURNS = 3;
const RESTLESS_MS = 120;
const RESTLESS_LOOKS = 3;
const RESTLESS = 0.05;

const shared = new Int32Array(new SharedArrayBuffer(8));
const [RUNNING, HEARD] = [0, 1]; // the run that is going on, or 0; the run that knows of a signal
const typed = IS_TYPED ? require('./typescript.cjs') : null;
const endProcess = process.reallyExit.bind(process);

let run = null; // {code, number, settled, error}

// --- runs

function next() {
  channel.receive((message) => {
    if (message === null) endProcess(0);
    else if (message.kind === 'run') begin(message);
    else {
      if (message.kind === 'set') setVariable(message);
      next();
    }
  });
}

function setVariable({ name, value }) {
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
  if (name === 'NODE_PATH') modules.refresh();
}

function begin({ code, number }) {
  run = { code, number, settled: false, interrupted: false, idle: 0 };
  pending.begin();
  Atomics.store(shared, RUNNING, Number(number));
  errors.begin(Number(number));
  let script = code;
  try {
    if (typed !== null) {
      const stripped = typed.strip(code);
      if (stripped.error !== undefined) {
        fail(errors.describeAt(stripped.error, code));
        return;
      }
      script = stripped.script;
      errors.begin(Number(number), stripped.place);
    }
    script = loosen(rewriteModules(asExpression(script)));
  } catch (error) {
    failWith(error);
    return;
  }
  start(script, script, ['var', 'let', 'const']);
}

/** An object literal would be read as a block. */
function asExpression(script) {
  if (!/^\s*\{[^]*\}\s*$/.test(script)) return script;
  try {
    new vm.Script(`(${script}\n)`);
    return `(${script}\n)`;
  } catch {
    return script;
  }
}

/** Evaluates a script; if it declares anew what was declared otherwise, in other words. */
function start(script, original, otherwise) {
  const mine = run;
  evaluate(script, errors.nameOf(mine.number), (outcome) => {
    if (run !== mine) return;
    if (!('thrown' in outcome)) settle(mine, outcome.value);
    else if (otherwise.length && mustRedeclare(outcome.thrown, original)) {
      start(redeclare(original, otherwise[0]), original, otherwise.slice(1));
    } else failWith(outcome.thrown, outcome.details);
  });
}

const DECLARED = /^Identifier '(.+)' has already been declared$/;

/** Returns whether code was refused only because an earlier run declared a name differently. */
function mustRedeclare(thrown, script) {
  if (!(thrown instanceof SyntaxError) || !DECLARED.test(thrown.message)) return false;
  try {
    Reflect.construct(Object.getPrototypeOf(async () => {}).constructor, [script]);
    return true;
  } catch {
    return false;
  }
}

async function settle(mine, value) {
  try {
    // The value of `main()` is what it comes to.
    const result = value instanceof Promise ? await value : value;
    await displays.settle();
    if (run !== mine) return;
    const shown = result === undefined ? null : await displays.bundle(result);
    if (run !== mine) return;
    if (shown !== null) channel.sendAndWait('result', shown);
    mine.settled = true;
    // Rejections that nobody handles are told of at the end of this turn.
    pending.native.setImmediate(waitForRest, mine, 0);
  } catch (error) {
    if (run === mine) failWith(error);
  }
}

/** Ends the run when nothing of it is left to come. */
function waitForRest(mine, turn) {
  if (run !== mine) return;
  if (!pending.isWaiting()) {
    finish('ok');
    return;
  }
  const delay = POLL_MS[Math.min(turn, POLL_MS.length - 1)];
  pending.native.setTimeout(waitForRest, delay, mine, turn + 1).unref();
}

function failWith(thrown, details) {
  fail(errors.describe(thrown, details, run.code));
}

function fail(pairs) {
  pending.clear();
  Atomics.store(shared, RUNNING, 0);
  channel.sendAndWait('error', pairs);
  finish('error');
}

function finish(status, exit) {
  Atomics.store(shared, RUNNING, 0);
  run = null;
  pending.end();
  forget();
  streams.endInput();
  const code = exit ?? process.exitCode;
  process.exitCode = undefined;
  const pairs = [['status', status]];
  if (code !== undefined && code !== null) pairs.push(['exit', String(Number(code) & 0xff)]);
  channel.send('done', pairs);
  next();
}

// --- what ends a run from elsewhere

function onUncaught(thrown) {
  // With a listener of its own, the code has said what is to happen.
  if (process.listenerCount('uncaughtException') > 1) return;
  if (run !== null) failWith(thrown);
  else process.stderr.write(`${require('util').inspect(thrown)}\n`);
}

process.on('beforeExit', () => {
  const mine = run;
  if (mine === null) return;
  if (mine.settled) finish('ok');
  else if (mine.interrupted || (mine.idle += 1) < TURNS) {
    // A signal that has stopped the code is told of in the next turn.
    pending.native.setImmediate(() => {});
  } else {
    const error = new Error('the code awaits something that nothing can bring about any more');
    error.name = 'UnsettledAwait';
    error.stack = `${error.name}: ${error.message}`;
    failWith(error);
  }
});

process.on('SIGINT', () => {
  const mine = run;
  if (mine === null) return;
  Atomics.store(shared, HEARD, Number(mine.number));
  if (mine.interrupted) return;
  mine.interrupted = true;
  pending.clear();
  giveUp(mine, RESTLESS_LOOKS);
});

/** Abandons a run; code that still runs by itself after several looks can only be ended with the
 *  process. One look is not enough: threads that end keep a busy machine busy for a while. */
function giveUp(mine, looks) {
  if (run !== mine) return;
  // Its immediates are cleared; what there is of them is ours.
  if (!pending.isWaiting('Immediate')) return abandon(mine, false);
  if (looks === 0) return abandon(mine, true);
  const begun = performance.eventLoopUtilization();
  pending.native.setTimeout(() => {
    const quiet = performance.eventLoopUtilization(begun).utilization <= RESTLESS;
    if (quiet) abandon(mine, false);
    else giveUp(mine, looks - 1);
  }, RESTLESS_MS);
}

function abandon(mine, restless) {
  if (run !== mine) return;
  Atomics.store(shared, RUNNING, 0);
  channel.sendAndWait('error', [
    ['name', 'Interrupt'],
    ['value', 'the code was interrupted'],
    ['traceback', 'Interrupt: the code was interrupted'],
    ['type', 'exception'],
  ]);
  if (restless) endProcess(130);
  finish('error');
}

process.exit = function exit(code) {
  if (code !== undefined) process.exitCode = code;
  const status = Number(process.exitCode ?? 0) & 0xff;
  if (run === null) endProcess(status);
  process.emit('exit', status);
  pending.clear();
  const mine = run;
  pending.native.setImmediate(() => {
    if (run === mine) finish('ok', status);
  });
  stop();
};

// --- start

function watch() {
  try {
    const worker = new Worker(path.join(__dirname, 'watch.cjs'), {
      workerData: { shared: shared.buffer },
      execArgv: ['--expose-internals'],
    });
    // Without it only a busy loop cannot be stopped, and the process is.
    worker.on('error', () => {});
    worker.unref();
    pending.disregard(worker);
  } catch {
    // The same.
  }
}

process.execArgv = [];
streams.install();
modules.install(path.join(process.cwd(), TITLE), IS_TYPED);
errors.setTitle(TITLE);
errors.install();
pending.install();
displays.install((kind, pairs) => channel.sendAndWait(kind, pairs));
watch();
// From here on an error is the user's code's.
process.on('uncaughtException', onUncaught);
channel.send('ready');
next();
// It takes its time, and nobody waits for it yet.
if (typed !== null) setImmediate(typed.find);
