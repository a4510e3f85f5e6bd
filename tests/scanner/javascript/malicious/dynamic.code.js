//: eval by name
eval('1 + 1'); //!
//: indirect eval
(0, eval)('var x = 1'); //!
//: eval through globalThis
globalThis['ev' + 'al']('1'); //!
//: alias of eval
const e = eval;
e('1'); //!
//: Function constructor
const f = new Function('a', 'return a');
f(1); 
new Function('return 1')(); //!
//: Function without new
Function('return process')(); //!
//: constructor of a constructor
[].constructor.constructor('return 1')(); //!
//: constructor of a function
(() => {}).constructor('return 1')(); //!
//: constructor of an unknown object
const x = JSON.parse('{}');
x.constructor.constructor('return 1')(); //!
//: constructor of async functions
const A = Object.getPrototypeOf(async function () {}).constructor;
A('return 1')(); //!
//: timer with text
setTimeout('console.log(1)', 10); //!
//: vm
const vm = require('vm');
vm.runInThisContext('1 + 1'); //!
//: vm script
import { Script } from 'node:vm';
new Script('1').runInThisContext(); //!
//: worker from text
const { Worker } = require('worker_threads');
new Worker('console.log(1)', { eval: true }); //!
//: data address
await import('data:text/javascript,console.log(1)'); //!
//: unknown text
const input = require('fs').readFileSync('data.txt', 'utf8');
eval(input); //!
