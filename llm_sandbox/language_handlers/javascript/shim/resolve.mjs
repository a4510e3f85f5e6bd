// Module resolution hook: resolves a program from the working directory, and packages by NODE_PATH.

import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

let places = [];
let program = '';
let seen = '';

export function initialize(data) {
  ({ program, seen } = data);
  const folders = (process.env.NODE_PATH ?? '').split(path.delimiter).filter(Boolean);
  places = folders.map((folder) => pathToFileURL(path.join(folder, '..', 'main.js')).href);
}

export async function resolve(specifier, context, next) {
  if (specifier === program) return { url: seen, format: 'module', shortCircuit: true };
  try {
    return await next(specifier, context);
  } catch (error) {
    const isBare = !/^(?:[./#]|[a-z]+:)/i.test(specifier);
    if (error.code !== 'ERR_MODULE_NOT_FOUND' || !isBare) throw error;
    for (const parentURL of places) {
      try {
        return await next(specifier, { ...context, parentURL });
      } catch {
        // The next place, then.
      }
    }
    throw error;
  }
}

export async function load(url, context, next) {
  if (url !== seen) return next(url, context);
  return {
    format: 'module',
    shortCircuit: true,
    source: fs.readFileSync(fileURLToPath(program), 'utf8'),
  };
}
