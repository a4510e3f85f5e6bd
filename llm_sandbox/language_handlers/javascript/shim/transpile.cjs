'use strict';
// Transpiler program: writes the JavaScript of a TypeScript program beside it, `main.mjs` for
// `main.mts`, with a source map that refers to a file of the working directory.

const fs = require('fs');
const path = require('path');

const { transpile } = require('./typescript.cjs');

const file = process.argv[2];
const made = file.replace(/ts$/, 'js');
const { error, map, script } = transpile(fs.readFileSync(file, 'utf8'), file.endsWith('.mts'));
if (error !== undefined) {
  const name = path.basename(file);
  process.stderr.write(`${name}(${error.line},${error.column}): error ${error.message}\n`);
  process.exitCode = 2;
} else {
  let text = script;
  if (map !== undefined) {
    map.sources = [path.join(process.cwd(), path.basename(file))];
    const data = Buffer.from(JSON.stringify(map)).toString('base64');
    text += `\n//# sourceMappingURL=data:application/json;base64,${data}\n`;
  }
  fs.writeFileSync(made, text);
}
