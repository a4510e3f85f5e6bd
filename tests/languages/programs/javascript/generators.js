// Lazy sequences, and a conversation with a generator.
function* naturals() {
  for (let n = 1; ; n += 1) yield n;
}
function* filter(values, wanted) {
  for (const value of values) if (wanted(value)) yield value;
}
function* take(values, count) {
  for (const value of values) {
    if (count-- <= 0) return;
    yield value;
  }
}

const isPerfect = (n) => [...Array(n).keys()].slice(1).filter((d) => n % d === 0).reduce((a, b) => a + b, 0) === n;
console.log([...take(filter(naturals(), isPerfect), 3)]);

function* average() {
  let [sum, count, mean] = [0, 0, undefined];
  try {
    for (;;) {
      sum += yield mean;
      count += 1;
      mean = sum / count;
    }
  } finally {
    console.log("closed after", count);
  }
}
const talk = average();
talk.next();
console.log(talk.next(10).value, talk.next(20).value, talk.next(60).value);
console.log(talk.return("end"));
