'use strict';
// Top-level declarations of scripts, so that a later script can redeclare them. V8's consoles allow
// `let` after `let` and `var` after `var`, but treat `const` differently.

const { Set } = require('./globals.cjs');

const { LOADER, apply, onNewLine } = require('./source.cjs');
const { tokenize } = require('./tokens.cjs');

const ASSIGNS = /\s*(?:=(?![=>])|(?:\*\*|<<|>>>?|&&|\|\||\?\?|[-+*/%&|^])=(?!=)|\+\+|--)/y;
const DECLARES = new Set(['const', 'let', 'var', 'class', 'function']);
const NOT_BEFORE = new Set(['const', 'let', 'var', ',', '[', '.', '?.']);

let constants = new Set(); // of earlier runs

function isAssigned(code, tokens, index) {
  const before = tokens[index - 1]?.text;
  if (before === '++' || before === '--') return true;
  ASSIGNS.lastIndex = tokens[index].end;
  return !NOT_BEFORE.has(before) && ASSIGNS.test(code);
}

function beginsStatement(code, tokens, index) {
  const before = tokens[index - 1]?.text;
  return before === undefined || before === ';' || before === '}' || onNewLine(code, tokens, index);
}

/** The names after `const`: the one, or all words of a pattern. */
function namesAt(tokens, index) {
  const first = tokens[index];
  if (first === undefined) return [];
  if (first.type === 'word') return [first.text];
  if (first.text !== '{' && first.text !== '[') return [];
  const names = [];
  for (let at = index + 1; at < tokens.length && tokens[at].depth > first.depth; at += 1) {
    if (tokens[at].type === 'word') names.push(tokens[at].text);
  }
  return names;
}

/**
 * Returns code whose outermost constants are variables, as long as it does not assign to them: then
 * it is to fail, as it does with a constant. So it does for those of earlier runs.
 */
function loosen(code) {
  if (constants.size === 0 && !code.includes('const')) return code;
  const tokens = tokenize(code);
  const isWord = (index) => tokens[index].type === 'word';
  const assigned = new Set();
  const declared = new Set();
  tokens.forEach((token, index) => {
    if (!isWord(index)) return;
    if (isAssigned(code, tokens, index)) assigned.add(token.text);
    if (DECLARES.has(tokens[index - 1]?.text)) declared.add(token.text);
  });
  const edits = [];
  const mine = new Set();
  tokens.forEach((token, index) => {
    if (token.depth !== 0 || !isWord(index) || ['.', '?.'].includes(tokens[index - 1]?.text))
      return;
    if (token.text === 'const') {
      const names = namesAt(tokens, index + 1);
      names.forEach((name) => {
        declared.add(name);
        mine.add(name);
      });
      if (names.length && !names.some((name) => assigned.has(name)))
        edits.push([token.start, token.end, 'let  ']);
    } else if (
      constants.has(token.text) &&
      !declared.has(token.text) &&
      isAssigned(code, tokens, index) &&
      beginsStatement(code, tokens, index)
    ) {
      edits.push([token.start, token.start, `${LOADER}.constant(); `]);
    }
  });
  constants = new Set([...[...constants].filter((name) => !declared.has(name)), ...mine]);
  return apply(code, edits);
}

/**
 * Returns code with its outermost declarations as `word` declares: `var` for names that a `var` or
 * function of an earlier run holds, `let` for those of the others, `const` for constants.
 */
function redeclare(code, word) {
  const tokens = tokenize(code);
  const edits = [];
  tokens.forEach((token, index) => {
    const { depth, type, text, start, end } = token;
    const next = tokens[index + 1];
    if (depth !== 0 || type !== 'word' || next === undefined) return;
    if (!beginsStatement(code, tokens, index)) return;
    if (['var', 'let', 'const'].includes(text)) {
      const declares = next.type === 'word' || next.text === '{' || next.text === '[';
      if (declares && text !== word) edits.push([start, end, word.padEnd(text.length)]);
      return;
    }
    let at = index;
    if (text === 'async' && next.text === 'function') at += 1;
    const isFunction = tokens[at].text === 'function';
    if (text !== 'class' && !(isFunction && word !== 'var')) return;
    const name = tokens[at + (tokens[at + 1]?.text === '*' ? 2 : 1)];
    if (name?.type === 'word') edits.push([start, start, `${word} ${name.text} = `]);
  });
  return apply(code, edits);
}

module.exports = { loosen, redeclare };
