'use strict';
// Type stripping for TypeScript: by the compiler's package, or by Node.js where it supports that.

const { Boolean, Error, JSON, Number, process } = require('./globals.cjs');

const Module = require('module');
const path = require('path');

const PLACES = [
  '/usr/local/lib/node_modules',
  '/usr/lib/node_modules',
  '/usr/share/nodejs',
  '/usr/share/node_modules',
];
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

let compiler; // null when there is none

/** The compiler's package, wherever it is installed; null without one. */
function find() {
  if (compiler !== undefined) return compiler;
  compiler = null;
  const folders = (process.env.NODE_PATH ?? '').split(path.delimiter).filter(Boolean);
  const besideNode = path.join(path.dirname(process.execPath), '..', 'lib', 'node_modules');
  for (const folder of [
    path.join(process.cwd(), 'node_modules'),
    ...folders,
    ...PLACES,
    besideNode,
  ]) {
    try {
      const found = Module.createRequire(path.join(folder, 'main.js'))(
        path.join(folder, 'typescript'),
      );
      // Some versions are the program alone.
      if (typeof found.transpileModule === 'function') {
        compiler = found;
        break;
      }
    } catch {
      // The next one, then.
    }
  }
  return compiler;
}

/** The numbers of one segment of a source map. */
function decode(segment) {
  const numbers = [];
  let value = 0;
  let shift = 0;
  for (const letter of segment) {
    const digit = LETTERS.indexOf(letter);
    value |= (digit & 31) << shift;
    shift += 5;
    if ((digit & 32) === 0) {
      numbers.push(value & 1 ? -(value >> 1) : value >> 1);
      value = 0;
      shift = 0;
    }
  }
  return numbers;
}

/** A function from places in a script to those in the code that it was made of. */
function placer(mappings) {
  let [line, column] = [0, 0];
  const lines = mappings.split(';').map((text) => {
    let at = 0;
    return text
      .split(',')
      .filter(Boolean)
      .map((segment) => {
        const [made, , down = 0, right = 0] = decode(segment);
        at += made;
        line += down;
        column += right;
        return { at, line, column };
      });
  });
  return (madeLine, madeColumn) => {
    const segments = (lines[madeLine - 1] ?? []).filter((each) => each.at <= madeColumn - 1);
    const found = segments[segments.length - 1];
    if (found === undefined) return { line: madeLine, column: madeColumn };
    return { line: found.line + 1, column: found.column + 1 + (madeColumn - 1 - found.at) };
  };
}

function errorAt(message, line, column) {
  return { name: 'SyntaxError', message, line, column };
}

function byCompiler(ts, code, isModule) {
  const options = {
    target: ts.ScriptTarget.ES2022,
    module: isModule ? ts.ModuleKind.ESNext : ts.ModuleKind.CommonJS,
    esModuleInterop: true,
    sourceMap: true,
    removeComments: false,
    experimentalDecorators: true,
    // A name that is imported now may be used by a later run.
    ...(Number.parseFloat(ts.version) >= 5
      ? { verbatimModuleSyntax: isModule }
      : { preserveValueImports: isModule, isolatedModules: isModule }),
  };
  const made = ts.transpileModule(code, {
    compilerOptions: options,
    reportDiagnostics: true,
    fileName: 'main.ts',
  });
  const error = made.diagnostics.find(
    (each) =>
      each.category === ts.DiagnosticCategory.Error && each.start !== undefined && each.code < 2000,
  );
  if (error !== undefined) {
    const { line, character } = error.file.getLineAndCharacterOfPosition(error.start);
    return {
      error: errorAt(
        ts.flattenDiagnosticMessageText(error.messageText, '\n'),
        line + 1,
        character + 1,
      ),
    };
  }
  const script = made.outputText.replace(/\n?\/\/# sourceMappingURL=.*\s*$/, '');
  return { script, map: JSON.parse(made.sourceMapText) };
}

function byNode(code) {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return { script: Module.stripTypeScriptTypes(code) };
  } catch (error) {
    const place = /:(\d+)(?::(\d+))?/.exec(error.stack ?? '');
    return { error: errorAt(error.message, Number(place?.[1] ?? 1), 1) };
  } finally {
    process.emitWarning = emitWarning;
  }
}

/**
 * Takes the types out of code: `{script, map}`, or `{error}` where it does not parse.
 *
 * @param code TypeScript.
 * @param isModule Whether its imports stay; otherwise they become calls of `require`.
 */
function transpile(code, isModule) {
  const text = code.replace(/^(\s*)import(\s+\w+\s*=\s*require\s*\()/gm, '$1const $2');
  const ts = find();
  if (ts !== null) return byCompiler(ts, text, isModule);
  if (typeof Module.stripTypeScriptTypes === 'function') return byNode(text);
  const error = new Error(
    'there is no TypeScript here: install the package typescript, or node-typescript on Debian, or Node.js 22.13 or newer',
  );
  error.name = 'ToolchainError';
  throw error;
}

/** Takes the types out of the code of a run: `{script, place}`, or `{error}`. */
function strip(code) {
  const { error, script, map } = transpile(code, true);
  if (error !== undefined) return { error };
  // What it adds to say that a script is a module.
  const bare = script.replace(/\nexport \{\};\s*$/, '\n');
  return { script: bare, place: map === undefined ? undefined : placer(map.mappings) };
}

module.exports = { find, strip, transpile };
