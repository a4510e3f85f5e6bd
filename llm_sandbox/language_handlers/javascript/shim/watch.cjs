'use strict';
// Watchdog thread that stops code which never returns to the event loop. Node delivers a signal to
// the main thread only there, so this thread listens as well, and makes V8 terminate the execution.

const { parentPort, workerData } = require('worker_threads');
const { Session } = require('inspector');

const BUSY_MS = 40;

const shared = new Int32Array(workerData.shared);
const [RUNNING, HEARD] = [0, 1]; // the run that is going on, or 0; the run that knows of a signal

process.emitWarning = () => {};
const { internalBinding } = require('internal/test/binding');
const { Signal } = internalBinding('signal_wrap');

function terminate() {
  // No longer than it is needed: a process waits for whoever is connected to it.
  const session = new Session();
  session.connectToMainThread();
  session.post('Runtime.terminateExecution', () => session.disconnect());
}

const signal = new Signal();
let last = 0;
signal.onsignal = () => {
  const run = Atomics.load(shared, RUNNING);
  // Whoever interrupts repeats it; a run that is still there then has not given up.
  const again = run === last;
  last = run;
  setTimeout(() => {
    if (run === 0 || Atomics.load(shared, RUNNING) !== run) return;
    if (again || Atomics.load(shared, HEARD) !== run) terminate();
  }, BUSY_MS);
};
signal.start(2);
parentPort.postMessage('ready');
