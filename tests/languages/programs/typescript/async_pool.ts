// Typed promises: a cache of pending work, retries, and an async iterator.
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

class Once<K, V> {
  private readonly pending = new Map<K, Promise<V>>();
  constructor(private readonly compute: (key: K) => Promise<V>) {}
  get(key: K): Promise<V> {
    let found = this.pending.get(key);
    if (found === undefined) this.pending.set(key, (found = this.compute(key)));
    return found;
  }
}

let computed: number = 0;
const squares = new Once<number, number>(async (n) => {
  await pause(5);
  computed += 1;
  return n * n;
});
console.log(await Promise.all([2, 3, 2, 2].map((n) => squares.get(n))), computed);

async function retry<T>(times: number, body: (attempt: number) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await body(attempt);
    } catch (error: unknown) {
      if (attempt === times) throw error;
      console.log(`attempt ${attempt}: ${(error as Error).message}`);
    }
  }
}

console.log(
  await retry<string>(3, async (attempt) => {
    if (attempt < 3) throw new Error("not yet");
    return "at last";
  }),
);

async function* countdown(from: number): AsyncGenerator<number, void, undefined> {
  for (let n = from; n > 0; n -= 1) {
    await pause(1);
    yield n;
  }
}
const heard: number[] = [];
for await (const n of countdown(3)) heard.push(n);
console.log(heard as readonly number[]);
