//: stack
class Stack {
  #items = [];
  push(x) { this.#items.push(x); return this; }
  pop() { return this.#items.pop(); }
  get size() { return this.#items.length; }
}
console.log(new Stack().push(1).push(2).pop());
//: inheritance
class Shape { area() { return 0; } toString() { return `${this.constructor.name}: ${this.area()}`; } }
class Circle extends Shape { constructor(r) { super(); this.r = r; } area() { return Math.PI * this.r ** 2; } }
console.log(String(new Circle(2)));
//: events of our own
class Emitter {
  constructor() { this.handlers = {}; }
  on(name, f) { (this.handlers[name] ??= []).push(f); return this; }
  emit(name, ...args) { for (const f of this.handlers[name] ?? []) f(...args); }
}
new Emitter().on('exec', (x) => console.log(x)).emit('exec', 1);
//: iterator
class Range { constructor(a, b) { this.a = a; this.b = b; } *[Symbol.iterator]() { for (let i = this.a; i < this.b; i++) yield i; } }
console.log(Math.max(...new Range(1, 5)));
//: clone by constructor
class Point { constructor(x, y) { this.x = x; this.y = y; } clone() { return new this.constructor(this.x, this.y); } }
console.log(new Point(1, 2).clone());
//: linked list
const cons = (head, tail = null) => ({ head, tail });
const toArray = (l) => (l ? [l.head, ...toArray(l.tail)] : []);
console.log(toArray(cons(1, cons(2))));
//: bank account
class Account {
  static count = 0;
  constructor(owner) { this.owner = owner; this.balance = 0; Account.count++; }
  deposit(x) { if (x <= 0) throw new RangeError('positive amounts only'); this.balance += x; }
}
const a = new Account('Ann'); a.deposit(5); console.log(a);
//: counter by closure
const counter = () => { let n = 0; return { next: () => ++n, reset() { n = 0; } }; };
const c = counter(); c.next(); console.log(c.next());
//: state machine
const machine = { idle: { start: 'running' }, running: { stop: 'idle', kill: 'dead' }, dead: {} };
let state = 'idle';
for (const event of ['start', 'stop', 'start', 'kill']) state = machine[state][event] ?? state;
console.log(state);
//: observer with Proxy
const log = [];
const watched = new Proxy({ a: 1 }, { get: (t, k) => { log.push(k); return t[k]; } });
watched.a; console.log(log);
