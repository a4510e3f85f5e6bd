'use strict';
// Evaluation of code as in V8's consoles: top-level declarations persist and may be redeclared, and
// top-level await is allowed.

const { BigInt, Number, Object } = require('./globals.cjs');

const { Session } = require('inspector');
const { promiseHooks } = require('v8');

const GIVE = '__give';

const stopper = connect();
let session = connect();
let unsettled = null; // the promise of the script that has not come to its end

function connect() {
  const made = new Session();
  made.connect();
  return made;
}

const given = [];
// What V8 describes is fetched by code of its own, which can reach this program by a global only.
Object.defineProperty(globalThis, GIVE, { value: (value) => given.push(value) });
const FETCH = `function () { ${GIVE}(this); }`;

/** The value that V8 describes. */
function valueOf(remote) {
  if (remote.objectId === undefined) {
    if (remote.unserializableValue === undefined) return remote.value;
    const text = remote.unserializableValue;
    return text.endsWith('n') ? BigInt(text.slice(0, -1)) : Number(text);
  }
  session.post('Runtime.callFunctionOn', { objectId: remote.objectId, functionDeclaration: FETCH });
  session.post('Runtime.releaseObject', { objectId: remote.objectId });
  const value = given.pop();
  return remote.type === 'symbol' ? value.valueOf() : value;
}

/**
 * Holds the promise of the script that is about to begin, the first that is made. Else it could be
 * collected as garbage if nothing can settle it, and V8 would tell of that by calling back in the
 * middle of the collection, where nothing can be run.
 */
function holdPromise() {
  const stopListening = promiseHooks.onInit((promise) => {
    unsettled ??= promise;
    stopListening();
  });
  return stopListening;
}

/**
 * Evaluates a script and calls back when it has settled: with `{value}`, or `{thrown, details}`.
 * Not called when its execution is stopped.
 */
function evaluate(script, name, callback) {
  const request = {
    expression: `${script}\n//# sourceURL=${name}`,
    replMode: true,
    awaitPromise: true,
  };
  unsettled = null;
  const stopListening = holdPromise();
  session.post('Runtime.evaluate', request, (error, answer) => {
    if (error) return; // it was stopped
    unsettled = null;
    const { exceptionDetails: details, result } = answer;
    if (details === undefined) callback({ value: valueOf(result) });
    else callback({ thrown: valueOf(details.exception ?? result), details });
  });
  stopListening();
}

/** Abandons a script that may not have settled. */
function forget() {
  if (unsettled === null) return;
  session.disconnect();
  session = connect();
  unsettled = null;
}

/** Stops all that is being executed, this function too. Nothing can catch it. */
function stop() {
  stopper.post('Runtime.terminateExecution');
  for (;;);
}

module.exports = { evaluate, forget, stop };
