//: unknown module
const name = process.argv[2];
require(name); //!
//: unknown module, imported
const name = await (await fetch('list.txt')).text();
await import(name); //!
//: unknown member of a watched module
const cp = require('child_process');
cp[process.argv[2]]('id'); //!
//: unknown global
const key = prompt();
globalThis[key]('1'); //!
//: all members
Object.values(require('child_process')).pop()('id'); //!
