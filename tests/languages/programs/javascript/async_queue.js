// Tasks of which no more than two run at a time; results keep the order in which they were asked.
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function limited(tasks, limit) {
  const results = [];
  let next = 0;
  let running = 0;
  let most = 0;
  async function worker() {
    while (next < tasks.length) {
      const mine = next++;
      running += 1;
      most = Math.max(most, running);
      results[mine] = await tasks[mine]();
      running -= 1;
    }
  }
  await Promise.all(Array.from({ length: limit }, worker));
  return { results, most };
}

const tasks = [30, 5, 20, 1, 10].map((ms, index) => async () => {
  await pause(ms);
  return `task ${index}`;
});
const { results, most } = await limited(tasks, 2);
console.log(results.join(", "));
console.log("at most", most, "at once");

const outcomes = await Promise.allSettled([pause(1).then(() => "fine"), Promise.reject(new Error("no"))]);
console.log(outcomes.map(({ status, value, reason }) => `${status}: ${value ?? reason.message}`));
const winner = await Promise.race([pause(500).then(() => "slow"), pause(1).then(() => "quick")]);
console.log(winner);
