'use strict';
// `require` and `import` as in a script in the working directory.

const { Boolean, JSON, Object, String, SyntaxError, TypeError, process } = require('./globals.cjs');

const fs = require('fs');
const Module = require('module');
const path = require('path');
const vm = require('vm');
const { pathToFileURL } = require('url');

const { LOADER } = require('./source.cjs');

const DEFAULT_LOADER = vm.constants?.USE_MAIN_CONTEXT_DEFAULT_LOADER;
const IMPORTS = '__import';
const BARE = /^(?![./]|[a-z]+:|#)/i;

/** The folders of packages that NODE_PATH names. */
function packageFolders() {
  return (process.env.NODE_PATH ?? '').split(path.delimiter).filter(Boolean);
}

/** Imports as a module with that path does. */
function importFrom(file, name, options) {
  const { emitWarning } = process;
  // Node tells the user of an experiment that is ours.
  process.emitWarning = (warning, ...rest) => {
    if (!/vm\.USE_MAIN_CONTEXT_DEFAULT_LOADER/.test(String(warning)))
      emitWarning.call(process, warning, ...rest);
  };
  try {
    const script = new vm.Script(
      `({ ${IMPORTS}: (name, options) => import(name, options) }).${IMPORTS}`,
      {
        filename: file,
        importModuleDynamically: DEFAULT_LOADER,
      },
    );
    return script.runInThisContext()(name, options);
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** Returns the path at which an older Node resolves a module name, from a file. */
function locate(name, file) {
  try {
    return Module.createRequire(file).resolve(name);
  } catch (error) {
    if (error.code !== 'ERR_PACKAGE_PATH_NOT_EXPORTED') throw error;
    const [, packageName, rest] = /^((?:@[^/]+\/)?[^/]+)(.*)$/.exec(name);
    for (const folder of Module._nodeModulePaths(path.dirname(file)).concat(packageFolders())) {
      const found = path.join(folder, packageName);
      if (!fs.existsSync(path.join(found, 'package.json'))) continue;
      const { exports } = JSON.parse(fs.readFileSync(path.join(found, 'package.json'), 'utf8'));
      const target = choose(exports[`.${rest}`] ?? (rest === '' ? exports : undefined));
      if (target !== undefined) return path.join(found, target);
    }
    throw error;
  }
}

function choose(target) {
  if (typeof target === 'string' || target === undefined || target === null)
    return target ?? undefined;
  return choose(target.import ?? target.node ?? target.default);
}

/** Imports what `name` stands for in `file`; packages may also be where NODE_PATH says. */
async function load(name, options, file) {
  const text = String(name);
  if (Module.builtinModules.includes(text) || /^(?:node|data|https?):/.test(text)) {
    return options === undefined ? import(text) : import(text, options);
  }
  if (DEFAULT_LOADER === undefined) {
    return import(/^file:/.test(text) ? text : pathToFileURL(locate(text, file)).href);
  }
  const places = [file];
  if (BARE.test(text))
    places.push(...packageFolders().map((folder) => path.join(folder, '..', 'main.js')));
  let first;
  for (const place of places) {
    try {
      return await importFrom(place, text, options);
    } catch (error) {
      // A package that is there and lacks one of its own is another matter.
      const missing =
        error?.code === 'ERR_MODULE_NOT_FOUND' && error.message.includes(`imported from ${place}`);
      if (!missing) throw error;
      first ??= error;
    }
  }
  throw first;
}

/** Returns the values of a static import of names; as in a module, a missing name is an error. */
async function loadNames(name, names, options, file, lenient) {
  const space = await load(name, options, file);
  const found = {};
  for (const wanted of names) {
    if (wanted in space) {
      found[wanted] = space[wanted];
    } else if (Object(space.default) === space.default && wanted in space.default) {
      found[wanted] = space.default[wanted];
    } else if (!lenient) {
      throw new SyntaxError(
        `The requested module '${name}' does not provide an export named '${wanted}'`,
      );
    }
  }
  return found;
}

/** Makes the globals of a script called `main.js` in the working directory. */
function install(file, lenient) {
  const main = new Module('.', null);
  main.filename = file;
  main.paths = Module._nodeModulePaths(path.dirname(file));
  process.mainModule = main;
  process.argv = [process.execPath, file];
  const require = Module.createRequire(file);
  require.main = main;
  const loader = (name, options) => load(name, options, file);
  loader.names = (name, names, options) => loadNames(name, names, options, file, lenient);
  loader.constant = () => {
    throw new TypeError('Assignment to constant variable.');
  };
  loader.meta = Object.assign(Object.create(null), {
    dirname: path.dirname(file),
    filename: file,
    resolve: (name) =>
      Module.isBuiltin?.(name)
        ? `node:${name.replace(/^node:/, '')}`
        : pathToFileURL(locate(name, file)).href,
    url: pathToFileURL(file).href,
  });
  const globals = {
    __dirname: path.dirname(file),
    __filename: file,
    [LOADER]: loader,
    exports: main.exports,
    module: main,
    require,
  };
  for (const [key, value] of Object.entries(globals)) {
    Object.defineProperty(globalThis, key, {
      configurable: true,
      enumerable: false,
      value,
      writable: true,
    });
  }
}

/** Makes packages resolve by the present NODE_PATH. */
function refresh() {
  Module._initPaths();
}

module.exports = { IMPORTS, install, refresh };
