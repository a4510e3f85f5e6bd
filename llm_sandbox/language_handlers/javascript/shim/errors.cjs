'use strict';
// Errors in terms of the user's code: with its lines, and without frames of the shim.

const { Error, JSON, Map, Math, Number, Object, String, WeakMap } = require('./globals.cjs');

const path = require('path');

const { IMPORTS } = require('./modules.cjs');

const HERE = __dirname + path.sep;
const NAMED = /^main\.(?:js|ts)(?:\?(\d+))?$/;

let current = 0;
let title = 'main.js';
const sources = new Map(); // of each run: what finds a place in the code as it was written

/** The name under which V8 knows the code of a run. */
function nameOf(run) {
  return `${title}?${run}`;
}

/** Sets the current run; `place` maps a line and column of its script to the code's. */
function begin(run, place) {
  current = run;
  if (place !== undefined) sources.set(run, place);
}

function setTitle(name) {
  title = name;
}

/** The frame that a call site is, as the user sees it; null for those of the machinery. */
function frameOf(site) {
  const file = site.getScriptNameOrSourceURL() ?? site.getFileName() ?? '';
  const line = site.getLineNumber() ?? 0;
  const column = site.getColumnNumber() ?? 0;
  const isOurs =
    file.startsWith(HERE) || file === 'node:inspector' || site.getFunctionName() === IMPORTS;
  if (isOurs) return null;
  const found = NAMED.exec(file);
  if (found === null)
    return { text: String(site), file, line, run: 0, internal: file.startsWith('node:') };
  const run = Number(found[1]);
  const place = sources.get(run)?.(line, column) ?? { line, column };
  const shown = run === current ? title : `${title} of run ${run}`;
  const text = String(site).replace(
    `${file}:${line}:${column}`,
    `${shown}:${place.line}:${place.column}`,
  );
  return { text, file: shown, ...place, run, name: site.getFunctionName() ?? '' };
}

const known = new WeakMap();

/** The frames of a stack, without what is below the user's code. */
function framesOf(sites) {
  const frames = sites.map(frameOf).filter((frame) => frame !== null);
  while (frames.length && frames[frames.length - 1].internal) frames.pop();
  return frames;
}

/** Installs these frames as the stack of every error. */
function install() {
  Error.stackTraceLimit = 20;
  Error.prepareStackTrace = (error, sites) => {
    let head;
    try {
      head = Error.prototype.toString.call(error);
    } catch {
      head = 'Error';
    }
    const frames = framesOf(sites);
    if (Object(error) === error) known.set(error, frames);
    return [head, ...frames.map((frame) => `    at ${frame.text}`)].join('\n');
  };
}

function read(object, key) {
  try {
    return object[key];
  } catch {
    return undefined;
  }
}

/**
 * Describes what was thrown: the pairs of an `error` message.
 *
 * @param thrown The value.
 * @param details V8's exception details, which know places that the value does not; or undefined.
 * @param code The code of the run.
 */
function describe(thrown, details, code) {
  const isError =
    thrown instanceof Error || Object.prototype.toString.call(thrown) === '[object Error]';
  const stack = isError ? String(read(thrown, 'stack') ?? '') : '';
  const frames = isError ? (known.get(thrown) ?? []) : [];
  const lines = code.split('\n');
  let place = frames.find((frame) => frame.run === current && frame.run !== 0);
  let type = 'exception';
  // A script that does not compile has no stack, and V8 knows the place in it.
  if (
    place === undefined &&
    isError &&
    thrown.name === 'SyntaxError' &&
    details?.stackTrace === undefined &&
    details !== undefined
  ) {
    const at = { line: details.lineNumber + 1, column: details.columnNumber + 1 };
    place = sources.get(current)?.(at.line, at.column) ?? at;
    type = 'syntax';
  }
  const { inspect } = require('util');
  const name = isError ? String(read(thrown, 'name') ?? 'Error') : 'Uncaught';
  const value = isError ? String(read(thrown, 'message') ?? '') : inspect(thrown, { depth: 2 });
  if (type === 'syntax') return describeAt({ name, message: value, ...place }, code);
  let traceback;
  if (isError) {
    traceback = withDetail(thrown, stack || `${name}: ${value}`);
  } else {
    const where = place === undefined ? '' : `\n    at ${title}:${place.line}:${place.column}`;
    traceback = `Uncaught ${value}${where}`;
  }
  const told = [...frames]
    .filter((frame) => frame.file !== '')
    .reverse()
    .map((frame) => ({
      file: frame.file,
      line: frame.line,
      function: frame.name ?? '',
      source: frame.run === current ? (lines[frame.line - 1]?.trim() ?? '') : '',
    }));
  const pairs = [
    ['name', name],
    ['value', value],
    ['traceback', traceback],
    ['type', type],
  ];
  if (place !== undefined)
    pairs.push(['line', String(place.line)], ['column', String(place.column)]);
  pairs.push(['frames', JSON.stringify(told)]);
  return pairs;
}

/** The stack, with what else the error says: its cause, its properties, the errors it holds. */
function withDetail(error, stack) {
  try {
    const text = require('util').inspect(error, { depth: 2 });
    return text.startsWith('[') ? stack : text;
  } catch {
    return stack;
  }
}

/** Describes code that does not parse: the pairs of an `error` message. */
function describeAt({ name, message, line, column }, code) {
  const mark = `${' '.repeat(Math.max(0, column - 1))}^`;
  const source = code.split('\n')[line - 1] ?? '';
  return [
    ['name', name],
    ['value', message],
    ['traceback', `${title}:${line}\n${source}\n${mark}\n\n${name}: ${message}`],
    ['type', 'syntax'],
    ['line', String(line)],
    ['column', String(column)],
  ];
}

module.exports = { begin, describe, describeAt, install, nameOf, setTitle };
