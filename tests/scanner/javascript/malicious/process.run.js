//: by name
const cp = require('child_process');
cp.exec('ls -la'); //!
//: destructured and renamed
const { exec: run } = require('node:child_process');
run('id'); //!
//: imported whole
import * as proc from 'node:child_process';
proc.spawnSync('sh', ['-c', 'id']); //!
//: imported by default and by name
import cp, { execFile as f } from 'child_process';
f('/bin/sh', ['-c', 'ls']); //!
//: folded module name
const m = require('child_' + 'process');
m.exec('id'); //!
//: folded member name
const cp = require('child_process');
cp['ex' + 'ec']('id'); //!
//: codes of characters
const name = String.fromCharCode(99, 104, 105, 108, 100, 95, 112, 114, 111, 99, 101, 115, 115);
require(name).execSync('id'); //!
//: base64 by atob
require(atob('Y2hpbGRfcHJvY2Vzcw=='))['exec']('id'); //!
//: base64 by Buffer
const b = Buffer.from('Y2hpbGRfcHJvY2Vzcw==', 'base64').toString();
require(b).spawn('id'); //!
//: hexadecimal by Buffer
require(Buffer.from('6368696c645f70726f63657373', 'hex').toString('utf8')).exec('id'); //!
//: reversed text
require('ssecorp_dlihc'.split('').reverse().join('')).exec('id'); //!
//: joined list
require(['child', 'process'].join('_')).exec('id'); //!
//: template
const half = 'process';
require(`child_${half}`).exec(`id`); //!
//: built bit by bit
let s = '';
s += 'child';
s += '_process';
require(s).exec('id'); //!
//: main module
process.mainModule.require('child_process').execSync('id'); //!
//: module loader
module.constructor._load('child_process').exec('id'); //!
//: createRequire
import { createRequire } from 'module';
const need = createRequire(import.meta.url);
need('child_process').exec('id'); //!
//: builtin module
process.getBuiltinModule('child_process').execSync('id'); //!
//: dynamic import with then
import('child_process').then(({ exec }) => exec('id')); //!
//: dynamic import with await
async function f() {
  const { execSync } = await import('node:child_process');
  return execSync('id'); //!
}
//: Reflect.get
Reflect.get(require('child_process'), 'exec')('id'); //!
//: Reflect.apply
Reflect.apply(require('child_process').execSync, null, ['id']); //!
//: call, apply and bind
const { exec } = require('child_process');
const bound = exec.bind(null, 'id');
bound(); //!
//: apply with a list
require('child_process').spawn.apply(null, ['id', []]); //!
//: promisified
const { promisify } = require('util');
const { exec } = require('child_process');
const execAsync = promisify(exec);
execAsync('id').then(console.log); //!
//: optional chaining
require?.('child_process')?.exec?.('id'); //!
//: alias of require
const load = require;
load('child_process').exec('id'); //!
//: handed to a function
function call(f, x) { return f(x); } //!
call(require('child_process').execSync, 'id');
//: given back by a function
const get = () => require('child_process');
get().exec('id'); //!
//: kept in an object
const tools = { run: require('child_process').exec };
tools.run('id'); //!
//: kept in a class
class Job {
  constructor() { this.start = require('child_process').execSync; }
  go() { return this.start('id'); } //!
}
new Job().go();
//: escape in a name
const cp = require('child_process');
cp.\u0065xec('id'); //!
//: escapes in a text
require('\x63hild\u005fprocess').exec('id'); //!
//: sequence
(0, require('child_process').exec)('id'); //!
//: choice
const cp = require(Math.random() > 2 ? 'path' : 'child_process');
cp.exec('id'); //!
//: mapped
['id', 'ls'].forEach(require('child_process').exec); //!
//: tagged template
const { $ } = require('zx');
$`id`; //!
//: third-party library
import { execa } from 'execa';
await execa('id'); //!
