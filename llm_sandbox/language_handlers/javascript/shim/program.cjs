'use strict';
// Preload of whole programs: defines `display`, and resolves modules from the working directory.

const fs = require('fs');
const Module = require('module');
const path = require('path');

const EXTENSIONS = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'application/pdf': 'pdf',
  'image/svg+xml': 'svg',
  'text/html': 'html',
  'text/markdown': 'md',
  'text/plain': 'txt',
};

const program = process.argv[1] ?? '';
const folder = process.env.LLM_SANDBOX_DISPLAYS;
const seen = path.join(process.cwd(), path.basename(program));
let count = 0;

/** Writes a file under the next free number: other processes of the program show things as well. */
function write(ending, content) {
  fs.mkdirSync(folder, { recursive: true });
  for (;;) {
    count += 1;
    const name = `${String(count).padStart(4, '0')}.${ending}`;
    try {
      fs.writeFileSync(path.join(folder, name), content, { flag: 'wx' });
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
  }
}

function show(kind, pairs) {
  if (!folder) return;
  const forms = pairs
    .filter(([name]) => name.startsWith('data:'))
    .map(([name, data]) => [name.slice(5), data]);
  const [[type, data]] = forms;
  if (forms.length === 1 && type in EXTENSIONS) {
    write(EXTENSIONS[type], data);
    return;
  }
  const bundle = {};
  for (const [each, value] of forms) {
    if (each.endsWith('json')) bundle[each] = JSON.parse(String(value));
    else
      bundle[each] = /^image\/(?!svg)|pdf$/.test(each)
        ? Buffer.from(value).toString('base64')
        : String(value);
  }
  const metadata = pairs.find(([name]) => name === 'metadata');
  if (metadata !== undefined) bundle.metadata = JSON.parse(metadata[1]);
  write('bundle.json', JSON.stringify(bundle));
}

/** Makes a script resolve modules from the working directory, wherever its file is. */
function standInForScript() {
  const native = Module._extensions['.js'];
  Module._extensions['.js'] = function load(module, file) {
    if (file !== program) {
      native(module, file);
      return;
    }
    module.filename = seen;
    module.paths = Module._nodeModulePaths(path.dirname(seen));
    module._compile(fs.readFileSync(file, 'utf8'), seen);
  };
}

/** The same for a module, which asks a loader; and what a script has and a module lacks. */
function standInForModule() {
  const { pathToFileURL } = require('url');
  const main = new Module(seen, null);
  main.filename = seen;
  main.paths = Module._nodeModulePaths(path.dirname(seen));
  process.mainModule = main;
  const scriptRequire = Module.createRequire(seen);
  scriptRequire.main = main;
  Object.assign(globalThis, { require: scriptRequire, module: main, exports: main.exports });
  Object.assign(globalThis, { __filename: seen, __dirname: path.dirname(seen) });
  if (typeof Module.register === 'function') {
    const data = { program: pathToFileURL(program).href, seen: pathToFileURL(seen).href };
    Module.register(pathToFileURL(path.join(__dirname, 'resolve.mjs')).href, { data });
  }
}

if (/[/\\]\.llm-sandbox-[^/\\]+[/\\]main\.m?js$/.test(program)) {
  globalThis.__load = (name) => import(name);
  require('./streams.cjs').installOutputs();
  require('./displays.cjs').install(show);
  if (program.endsWith('.mjs')) standInForModule();
  else standInForScript();
  process.argv[1] = seen;
}
