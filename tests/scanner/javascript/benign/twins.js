//: member by folded name, own object
const obj = { exec: (x) => x + 1 };
console.log(obj['ex' + 'ec'](1));
//: method named like one of ours
const db = { exec(sql) { return sql.length; }, spawn: () => 1, fork() { return this; } };
db.exec('SELECT 1'); db.spawn('x'); db.fork();
//: own function named eval-like
const evaluate = (s) => s.split('+').map(Number).reduce((a, b) => a + b);
console.log(evaluate('1+2'));
//: own fetch
function load(fetch) { return fetch('a'); }
console.log(load((x) => x));
//: own require of a harmless module
const p = require('pa' + 'th');
console.log(p.join('a', 'b'), require(['u', 'til'].join('t')).inspect({}));
//: template module name
const kind = 'promises';
const fs = require(`fs/${kind}`);
fs.readFile('a.txt').then((b) => console.log(b.length));
//: Reflect on own object
const o = { a: 1, f(x) { return x; } };
console.log(Reflect.get(o, 'a'), Reflect.apply(o.f, o, [2]), Reflect.ownKeys(o));
//: bind and call of own function
function add(a, b) { return a + b; }
console.log(add.bind(null, 1)(2), add.call(null, 1, 2), add.apply(null, [1, 2]));
//: table of functions
const ops = { '+': (a, b) => a + b, '-': (a, b) => a - b };
for (const k of Object.keys(ops)) console.log(ops[k](3, 2));
//: timer with function
setTimeout(() => console.log('later'), 10);
const t = setInterval(function () { clearInterval(t); }, 5);
//: codes of characters
console.log(String.fromCharCode(72, 105), [72, 105].map((c) => String.fromCharCode(c)).join(''));
//: shadowed names
function run(process, require) { process.kill(require('x')); return process; }
run({ kill: (x) => x }, (x) => x);
//: local module
const helper = require('./helper');
import other from '../lib/other.js';
helper.exec('x'); other.spawn();
//: dynamic import of a local file
const name = 'a';
import(`./pages/${name}.js`).then((m) => m.default());
//: arguments and exit
const [, , input = 'x'] = process.argv;
if (!input) process.exit(1);
process.stdout.write(input);
//: path under the own directory
const path = require('path');
console.log(path.resolve(__dirname, 'data.json'), process.cwd(), process.memoryUsage().rss > 0);
//: pretending names
const system = { socket: 1, kill: 2 }, child_process = 'text';
console.log(system.kill, child_process.length);
//: own Function class
class Fn { constructor(s) { this.s = s; } }
const F = Fn;
console.log(new F('return 1'));
//: constructor of an instance
class A {}
const a = new A();
console.log(a.constructor === A, a.constructor.name);
//: global names for settings
globalThis.settings = { debug: true };
console.log(globalThis.settings, typeof globalThis['settings']);
