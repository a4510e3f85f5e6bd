'use strict';
// Displays: MIME bundles of values, and the global `display`.

const {
  Buffer,
  JSON,
  Object,
  Promise,
  Set,
  Symbol,
  Uint8Array,
  process,
} = require('./globals.cjs');

const { inspect, types } = require('util');

const pictures = require('./pictures.cjs');
const tables = require('./tables.cjs');

const JUPYTER = [Symbol.for('Jupyter.display'), Symbol.for('jupyter.display')];
// Things of Node's that calls return for their own sake; their insides say nothing.
const HANDLES = new Set(
  'Timeout Immediate Server Interface ChildProcess Socket ReadStream WriteStream ClientRequest Worker FSWatcher'.split(
    ' ',
  ),
);
const PLAIN = { depth: 4, maxArrayLength: 100, maxStringLength: 10000, breakLength: 80 };

const LONGEST = 100_000;

function textOf(value) {
  try {
    const name = value !== null && typeof value === 'object' ? value.constructor?.name : undefined;
    if (HANDLES.has(name)) return `[${name}]`;
    const text = inspect(value, PLAIN);
    return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`;
  } catch (error) {
    return `[a value that cannot be shown: ${error?.message ?? error}]`;
  }
}

function summaryOf(data) {
  const [type] = Object.keys(data);
  return `[${type}]`;
}

/** Returns the MIME bundle that a value itself provides, or a promise of it; else null. */
function own(value) {
  if (value === null || typeof value !== 'object') return null;
  const key = JUPYTER.find((symbol) => typeof value[symbol] === 'function');
  if (key !== undefined) return value[key]();
  for (const [name, type] of [
    ['_toHtml', 'text/html'],
    ['_toSvg', 'image/svg+xml'],
  ]) {
    if (typeof value[name] === 'function') return { [type]: value[name]() };
  }
  return typeof value._toMime === 'function' ? value._toMime() : null;
}

/** Base64 of Jupyter's bundles is bytes here. */
function bytesOf(type, data) {
  if (data instanceof Uint8Array) return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  if (typeof data !== 'string') return JSON.stringify(data) ?? 'null';
  const binary = /^(?:image|audio|video)\/(?!svg)|^application\/pdf$/.test(type);
  return binary ? Buffer.from(data, 'base64') : data;
}

function pairsOf(data, metadata) {
  const pairs = Object.entries(data)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([type, value]) => [`data:${type}`, bytesOf(type, value)]);
  if (metadata !== undefined) pairs.push(['metadata', JSON.stringify(metadata)]);
  return pairs;
}

/** Calls back with a value, at once unless it is promised. */
function whenReady(value, callback) {
  return value instanceof Promise ? value.then(callback) : callback(value);
}

/** Calls back with data none of whose forms is promised. */
function whenComplete(data, callback) {
  return whenReady(data, (forms) => {
    const values = Object.values(forms);
    if (!values.some((form) => form instanceof Promise)) return callback(forms);
    return Promise.all(values).then((ready) =>
      callback(Object.fromEntries(Object.keys(forms).map((type, at) => [type, ready[at]]))),
    );
  });
}

/** The fields of a message that shows a value; promised where a form of it is. */
function bundle(value) {
  // Its traps are the user's, and are not asked what they draw.
  if (types.isProxy(value)) return pairsOf({ 'text/plain': textOf(value) });
  const said = own(value);
  if (Object(said) === said) {
    return whenComplete(said, (data) => pairsOf({ 'text/plain': textOf(value), ...data }));
  }
  const drawn = pictures.draw(value);
  if (drawn !== null) {
    const metadata = { llm_sandbox: { kind: 'plot', source: drawn.source } };
    return whenComplete(drawn.data, (data) =>
      pairsOf({ ...data, 'text/plain': summaryOf(data) }, metadata),
    );
  }
  return pairsOf({ 'text/plain': textOf(value), ...tables.describe(value) });
}

let send = () => {};
let waiting = Promise.resolve();

function failing(error) {
  process.nextTick(() => {
    throw error;
  });
}

/**
 * Shows a value: at once, or when its picture is ready. Text is shown as it is.
 *
 * Returns a promise that it has been shown, where that takes its time.
 */
function display(value) {
  if (typeof value === 'string' && !pictures.isSvg(value)) {
    send('display', pairsOf({ 'text/plain': value }));
    return undefined;
  }
  const shown = whenReady(whenReady(value, bundle), (pairs) => send('display', pairs));
  if (!(shown instanceof Promise)) return undefined;
  waiting = Promise.all([waiting, shown.catch(failing)]);
  return shown;
}

function plot(type) {
  return { llm_sandbox: { kind: 'plot', source: type } };
}

/** Shows data of one type at once. */
function shower(type, metadata) {
  return (data) => {
    const value = typeof data?.outerHTML === 'string' ? data.outerHTML : data;
    send('display', pairsOf({ [type]: value, 'text/plain': `[${type}]` }, metadata));
  };
}

display.svg = shower('image/svg+xml', plot('svg'));
display.html = shower('text/html');
display.markdown = shower('text/markdown');
display.png = shower('image/png', plot('png'));
display.jpeg = shower('image/jpeg', plot('jpeg'));
display.json = (data) => {
  send(
    'display',
    pairsOf({ 'application/json': JSON.stringify(data), 'text/plain': textOf(data) }),
  );
};
display.bundle = (data) => send('display', pairsOf(data));

/** Makes `display` global; `sender` gets the kind of a message and its fields. */
function install(sender) {
  send = sender;
  Object.defineProperty(globalThis, 'display', {
    configurable: true,
    enumerable: false,
    value: display,
    writable: true,
  });
}

/** Settles when all that was to be shown has been. */
async function settle() {
  let before;
  do {
    before = waiting;
    await before;
  } while (before !== waiting);
}

module.exports = { bundle, install, settle };
