'use strict';
// Rewriting of module statements, which a V8 script may not contain. Line numbers do not change,
// nor do columns on lines without a rewritten statement.

const { tokenize } = require('./tokens.cjs');

/** The global function that imports. It is as long as the word it stands for. */
const LOADER = '__load';

/** Returns code with `import` and `export` as calls of the loader, or not at all. */
function rewriteModules(code) {
  if (!/\b(?:import|export)\b/.test(code)) return code;
  const tokens = tokenize(code);
  const edits = [];
  for (let index = 0; index < tokens.length; index += 1) {
    const token = tokens[index];
    if (token.type !== 'word' || tokens[index - 1]?.text === '.') continue;
    const next = tokens[index + 1];
    if (next === undefined || next.text === ':') continue;
    if (token.text === 'import' && (next.text === '(' || next.text === '.')) {
      edits.push([token.start, token.end, LOADER]);
    } else if (token.depth === 0 && token.text === 'import') {
      const statement = readImport(tokens, index + 1);
      if (statement !== null)
        edits.push([token.start, statement.end, `${writeImport(statement)};`]);
    } else if (token.depth === 0 && token.text === 'export') {
      const edit = rewriteExport(tokens, index);
      if (edit !== null) edits.push(edit);
    }
  }
  return apply(code, edits);
}

/** Replaces pieces of text; what is taken away leaves its line ends behind. */
function apply(code, edits) {
  let text = '';
  let at = 0;
  for (const [start, end, put] of edits) {
    if (start < at) continue;
    text +=
      code.slice(at, start) + put + '\n'.repeat(code.slice(start, end).split('\n').length - 1);
    at = end;
  }
  return text + code.slice(at);
}

/** Reads what follows the word `import`: its names, module, attributes and end; or null. */
function readImport(tokens, at) {
  const names = [];
  let space = null;
  let index = at;
  const isWord = () => tokens[index]?.type === 'word';
  const text = () => tokens[index]?.text;
  if (tokens[index]?.type !== 'string') {
    if (isWord()) {
      names.push(['default', text()]);
      index += 1;
      if (text() === ',') index += 1;
    }
    if (text() === '*') {
      if (tokens[index + 1]?.text !== 'as') return null;
      space = tokens[index + 2]?.text;
      index += 3;
    } else if (text() === '{') {
      index += 1;
      while (text() !== '}') {
        const name = text();
        if (!isWord() && tokens[index]?.type !== 'string') return null;
        const renamed = tokens[index + 1]?.text === 'as';
        names.push([name, renamed ? tokens[index + 2]?.text : name]);
        index += renamed ? 3 : 1;
        if (text() === ',') index += 1;
      }
      index += 1;
    }
    if (text() !== 'from') return null;
    index += 1;
  }
  const from = tokens[index];
  if (from?.type !== 'string') return null;
  return { names, space, from: from.text, ...readAttributes(tokens, index) };
}

function readAttributes(tokens, index) {
  const word = tokens[index + 1]?.text;
  if ((word !== 'with' && word !== 'assert') || tokens[index + 2]?.text !== '{') {
    return { attributes: '', end: tokens[index].end };
  }
  let close = index + 3;
  while (close < tokens.length && tokens[close].text !== '}') close += 1;
  const inside = tokens
    .slice(index + 3, close)
    .map((token) => token.text)
    .join(' ');
  return { attributes: `{${inside}}`, end: (tokens[close] ?? tokens[index]).end };
}

function writeImport({ names, space, from, attributes }) {
  const options = attributes ? `, {with: ${attributes}}` : '';
  if (space === null && names.length === 0) return `await ${LOADER}(${from}${options})`;
  const parts = names.map(([name, local]) => (name === local ? name : `${name}: ${local}`));
  const listed = names.map(([name]) => (/^['"]/.test(name) ? name : `'${name}'`));
  const load = `await ${LOADER}.names(${from}, [${listed}]${options})`;
  if (space === null) return `const {${parts.join(', ')}} = ${load}`;
  // The space itself, and the default beside it if that is named.
  const first = `const ${space} = await ${LOADER}(${from}${options})`;
  return names.length ? `${first}, {${parts.join(', ')}} = ${space}` : first;
}

/** The edit for an `export` at `index`: the declaration or value alone; or null. */
function rewriteExport(tokens, index) {
  const { start, end } = tokens[index];
  const next = tokens[index + 1];
  const blank = (to) => [start, to, ' '.repeat(to - start)];
  if (next.text === 'default') {
    let after = index + 2;
    if (tokens[after]?.text === 'async') after += 1;
    const declares = ['function', 'class'].includes(tokens[after]?.text);
    if (tokens[after + 1]?.text === '*') after += 1;
    // Without a name it is a declaration only there.
    const nameless =
      declares && (tokens[after + 1]?.type !== 'word' || tokens[after + 1].text === 'extends');
    return [start, next.end, nameless ? '0,' : ''];
  }
  if (next.text !== '{' && next.text !== '*') return next.type === 'word' ? blank(end) : null;
  let last = index + 1;
  if (next.text === '{') {
    while (last < tokens.length && tokens[last].text !== '}') last += 1;
  } else if (tokens[last + 1]?.text === 'as') {
    last += 2;
  }
  const from = tokens[last + 1]?.text === 'from' ? tokens[last + 2] : undefined;
  if (from?.type === 'string') return [start, from.end, `await ${LOADER}(${from.text});`];
  return next.text === '{' && last < tokens.length ? [start, tokens[last].end, ';'] : null;
}

/** Returns whether a token begins a line that does not continue the previous one. */
function onNewLine(code, tokens, index) {
  const before = tokens[index - 1];
  return (
    /\n/.test(code.slice(before.end, tokens[index].start)) &&
    !/^(?:=>|[=(,:?&|+.<>*/%!~^-])$/.test(before.text)
  );
}

module.exports = { LOADER, apply, onNewLine, rewriteModules };
