// Threads: three workers count primes in ranges of their own, over shared memory.
const { Worker } = require("node:worker_threads");

const program = `
  const { workerData, parentPort } = require("node:worker_threads");
  const counts = new Int32Array(workerData.shared);
  const isPrime = (n) => {
    for (let d = 2; d * d <= n; d += 1) if (n % d === 0) return false;
    return n > 1;
  };
  for (let n = workerData.from; n < workerData.to; n += 1) if (isPrime(n)) Atomics.add(counts, 0, 1);
  parentPort.postMessage(workerData.to - workerData.from);
`;

const shared = new SharedArrayBuffer(4);
const ranges = [[0, 1000], [1000, 2000], [2000, 3000]];
const looked = await Promise.all(
  ranges.map(
    ([from, to]) =>
      new Promise((resolve, reject) => {
        const worker = new Worker(program, { eval: true, workerData: { shared, from, to } });
        worker.once("message", resolve);
        worker.once("error", reject);
      }),
  ),
);
console.log(looked, new Int32Array(shared)[0], "primes");
