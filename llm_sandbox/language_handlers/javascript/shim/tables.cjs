'use strict';
// Arrays of objects as tables.

const { Array, Date, JSON, Number, Object, Set, String } = require('./globals.cjs');

const TABLE = 'application/vnd.llm-sandbox.table+json';
const RESOURCE = 'application/vnd.dataresource+json';
const LOOKED_AT = 1000;
const MOST_COLUMNS = 50;
const MOST_ROWS = 1000;
const RECORD_ROWS = 20;
const HTML_ROWS = 20;
const LONGEST = 500;

function isPlain(value) {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return false;
  const kind = Object.getPrototypeOf(value);
  return kind === null || kind === Object.prototype || Object.getPrototypeOf(kind) === null;
}

function isCell(value) {
  return value === null || typeof value !== 'object' || value instanceof Date;
}

/** The names of the columns of an array of objects; null for what is no table. */
function columnsOf(value) {
  if (!Array.isArray(value) || value.length === 0) return null;
  const names = new Set();
  let cells = 0;
  let others = 0;
  for (const row of value.slice(0, LOOKED_AT)) {
    if (!isPlain(row)) return null;
    for (const [name, cell] of Object.entries(row)) {
      names.add(name);
      if (typeof cell === 'function') return null;
      if (isCell(cell)) cells += 1;
      else others += 1;
    }
  }
  return names.size > 0 && names.size <= MOST_COLUMNS && cells >= others ? [...names] : null;
}

function typeOf(values) {
  const kinds = new Set();
  for (const value of values) {
    if (value === null || value === undefined) continue;
    if (value instanceof Date) kinds.add('datetime');
    else if (typeof value === 'number') kinds.add(Number.isInteger(value) ? 'integer' : 'number');
    else if (typeof value === 'bigint') kinds.add('integer');
    else if (Array.isArray(value)) kinds.add('list');
    else
      kinds.add(
        { string: 'string', boolean: 'boolean', object: 'struct' }[typeof value] ?? 'other',
      );
  }
  if (kinds.size === 1) return [...kinds][0];
  return kinds.size === 2 && kinds.has('integer') && kinds.has('number') ? 'number' : 'other';
}

function cellOf(value) {
  if (value === undefined || value === null || typeof value === 'boolean') return value ?? null;
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (typeof value === 'object') {
    try {
      return JSON.stringify(value).slice(0, LONGEST);
    } catch {
      return String(value);
    }
  }
  return String(value).slice(0, LONGEST);
}

function escape(value) {
  const text = value === null ? '' : String(value);
  return text
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/"/g, '&quot;');
}

function toHtml(columns, rows, numeric) {
  const head = columns.map((name) => `<th>${escape(name)}</th>`).join('');
  const line = (row) =>
    `<tr>${columns
      .map(
        (name, at) =>
          `<td${numeric[at] ? ' style="text-align:right"' : ''}>${escape(cellOf(row[name]))}</td>`,
      )
      .join('')}</tr>`;
  const half = HTML_ROWS / 2;
  const all = rows.length <= HTML_ROWS;
  const gap = `<tr><td colspan="${columns.length}">… ${rows.length - HTML_ROWS} rows left out …</td></tr>`;
  const body = all
    ? rows.map(line)
    : [...rows.slice(0, half).map(line), gap, ...rows.slice(-half).map(line)];
  return `<table><thead><tr>${head}</tr></thead><tbody>${body.join('')}</tbody></table>`;
}

/** The forms of a table besides its text; null for what is no table. */
function describe(value) {
  const columns = columnsOf(value);
  if (columns === null) return null;
  const rows = value.filter(isPlain);
  const types = columns.map((name) => typeOf(rows.slice(0, LOOKED_AT).map((row) => row[name])));
  const cells = (part) => part.map((row) => columns.map((name) => cellOf(row[name])));
  const all = rows.length <= 2 * RECORD_ROWS;
  const record = {
    version: 1,
    library: 'javascript',
    name: null,
    columns: columns.map((name, at) => ({ name, type: types[at], dtype: '', role: 'value' })),
    shape: [rows.length, columns.length],
    head: cells(all ? rows : rows.slice(0, RECORD_ROWS)),
    tail: all ? [] : cells(rows.slice(-RECORD_ROWS)),
    handle: '',
  };
  const names = {
    integer: 'integer',
    number: 'number',
    boolean: 'boolean',
    string: 'string',
    datetime: 'datetime',
    list: 'array',
    struct: 'object',
  };
  const resource = {
    schema: { fields: columns.map((name, at) => ({ name, type: names[types[at]] ?? 'any' })) },
    data: rows
      .slice(0, MOST_ROWS)
      .map((row) => Object.fromEntries(columns.map((name) => [name, cellOf(row[name])]))),
  };
  const numeric = types.map((type) => type === 'integer' || type === 'number');
  return {
    'text/html': toHtml(columns, rows, numeric),
    [TABLE]: JSON.stringify(record),
    [RESOURCE]: JSON.stringify(resource),
  };
}

module.exports = { describe };
