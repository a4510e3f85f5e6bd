// A glider on a torus, four generations on.
const size = 6;
let cells = new Set(["1,0", "2,1", "0,2", "1,2", "2,2"]);

function step(alive) {
  const neighbours = new Map();
  for (const cell of alive) {
    const [x, y] = cell.split(",").map(Number);
    for (const dx of [-1, 0, 1]) {
      for (const dy of [-1, 0, 1]) {
        if (dx === 0 && dy === 0) continue;
        const key = `${(x + dx + size) % size},${(y + dy + size) % size}`;
        neighbours.set(key, (neighbours.get(key) ?? 0) + 1);
      }
    }
  }
  return new Set([...neighbours].filter(([key, n]) => n === 3 || (n === 2 && alive.has(key))).map(([key]) => key));
}

for (let generation = 0; generation <= 4; generation += 2) {
  console.log(`generation ${generation}`);
  for (let y = 0; y < size; y += 1) {
    console.log([...Array(size).keys()].map((x) => (cells.has(`${x},${y}`) ? "#" : ".")).join(""));
  }
  cells = step(step(cells));
}
