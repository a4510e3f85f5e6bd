'use strict';
// Tokenizer: distinguishes names from strings, templates, comments and expressions.

const { Set } = require('./globals.cjs');

const WORD = /[\p{ID_Start}$_#\\][\p{ID_Continue}$\u200c\u200d\\]*/uy;
const NUMBER =
  /(?:0[xob][\da-f_]+|\d[\d_]*(?:\.[\d_]*)?(?:e[+-]?[\d_]+)?|\.\d[\d_]*(?:e[+-]?[\d_]+)?)n?/iy;
const STRING = /'(?:[^'\\\n]|\\[^])*'?|"(?:[^"\\\n]|\\[^])*"?/y;
const REGEX = /\/(?:[^\\/[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\]?)*\/?[\w$]*/y;
const SPACE = /(?:\s|\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)|^#![^\n]*)+/y;
const TEMPLATE = /(?:[^`\\$]|\\[^]|\$(?!\{))*(?:`|\$\{|$)/y;

// After these words an operand follows, and so a slash begins an expression.
const BEFORE_OPERAND = new Set(
  'return typeof case in of delete void throw new do else instanceof yield await'.split(' '),
);
const BEFORE_HEAD = new Set(['if', 'while', 'for', 'with']);

/**
 * Returns the tokens of code, without comments: `{type, text, start, end, depth}`, where `type` is
 * word, number, string, regex, template or mark, and `depth` counts the brackets around it.
 */
function tokenize(code) {
  const tokens = [];
  const open = []; // of each bracket: what it is, and whether an operand has ended with it
  let at = 0;
  let operand = false; // whether the last token ended one: a slash then divides

  const match = (pattern) => {
    pattern.lastIndex = at;
    const found = pattern.exec(code);
    return found === null ? '' : found[0];
  };
  const push = (type, text) => {
    tokens.push({ type, text, start: at, end: at + text.length, depth: open.length });
    at += text.length;
  };
  const template = (begins) => {
    const start = at;
    at += begins;
    const text = match(TEMPLATE);
    at = start;
    push('template', code.slice(start, start + begins + text.length));
    if (text.endsWith('${')) open.push({ mark: '${' });
    operand = !text.endsWith('${');
  };

  while (at < code.length) {
    const space = match(SPACE);
    if (space) {
      at += space.length;
      continue;
    }
    const first = code[at];
    const last = tokens[tokens.length - 1];
    if (first === "'" || first === '"') {
      push('string', match(STRING));
      operand = true;
    } else if (first === '`') {
      template(1);
    } else if (first === '/' && !operand) {
      push('regex', match(REGEX));
      operand = true;
    } else if (/[\d.]/.test(first) && match(NUMBER)) {
      push('number', match(NUMBER));
      operand = true;
    } else if (match(WORD)) {
      const property = last !== undefined && /^\??\.$/.test(last.text);
      push('word', match(WORD));
      operand = property || !BEFORE_OPERAND.has(tokens[tokens.length - 1].text);
    } else if (first === '}' && open.length && open[open.length - 1].mark === '${') {
      open.pop();
      template(1);
    } else if ('([{'.includes(first)) {
      const head = first === '(' && last?.type === 'word' && BEFORE_HEAD.has(last.text);
      const block =
        first === '{' &&
        (operand || last === undefined || /^(?:[;{}]|=>|else|do)$/.test(last.text));
      push('mark', first);
      open.push({ mark: first, value: !head && !block });
      operand = false;
    } else if (')]}'.includes(first)) {
      operand = open.length ? open.pop().value : true;
      push('mark', first);
    } else {
      const two = code.substr(at, 2);
      const text = ['=>', '?.', '++', '--'].includes(two) ? two : first;
      // A count up or down leaves things as they are: `i++ / 2`, `++ /x/.lastIndex`.
      if (text !== '++' && text !== '--') operand = false;
      push('mark', text);
    }
  }
  return tokens;
}

module.exports = { tokenize };
