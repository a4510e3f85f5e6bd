// The order of the event loop, from code that never awaits.
console.log("first");
setTimeout(() => console.log("timer"), 0);
setImmediate(() => setTimeout(() => console.log("last"), 5));
Promise.resolve()
  .then(() => console.log("microtask"))
  .then(() => console.log("microtask of a microtask"));
process.nextTick(() => console.log("tick"));
let beats = 0;
const beat = setInterval(() => {
  beats += 1;
  if (beats === 3) {
    clearInterval(beat);
    console.log("three beats");
  }
}, 30);
console.log("second");
