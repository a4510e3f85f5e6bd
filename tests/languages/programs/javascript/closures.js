// Functions that remember: counters, memory of results, currying, composition.
const counter = (step = 1) => {
  let value = 0;
  return { next: () => (value += step), reset: () => (value = 0) };
};

const remember = (compute) => {
  const known = new Map();
  return (argument) => {
    if (!known.has(argument)) known.set(argument, compute(argument));
    return known.get(argument);
  };
};

const curry = (body, ...given) =>
  given.length >= body.length ? body(...given) : (...more) => curry(body, ...given, ...more);
const compose = (...parts) => (value) => parts.reduceRight((result, part) => part(result), value);

const odd = counter(2);
odd.next();
console.log(odd.next(), odd.next(), odd.reset(), odd.next());

let calls = 0;
const square = remember((x) => {
  calls += 1;
  return x * x;
});
console.log([3, 4, 3, 3].map(square), "computed", calls, "times");
console.log(curry((a, b, c) => a + b * c)(1)(2, 3));
console.log(compose((x) => `<${x}>`, (x) => x.toUpperCase(), (x) => x.trim())("  wrapped "));

var handlers = [];
for (var old = 0; old < 3; old += 1) handlers.push(() => old);
for (let fresh = 0; fresh < 3; fresh += 1) handlers.push(() => fresh);
console.log(handlers.map((handler) => handler()).join(" "));
