// Shortest ways through a small road network, with a binary heap.
class Heap {
  #items = [];

  get size() {
    return this.#items.length;
  }

  push(item) {
    const items = this.#items;
    let at = items.push(item) - 1;
    while (at > 0) {
      const up = (at - 1) >> 1;
      if (items[up].cost <= items[at].cost) break;
      [items[up], items[at]] = [items[at], items[up]];
      at = up;
    }
  }

  pop() {
    const items = this.#items;
    const top = items[0];
    const last = items.pop();
    if (items.length) {
      items[0] = last;
      let at = 0;
      for (;;) {
        let least = at;
        for (const child of [2 * at + 1, 2 * at + 2]) {
          if (child < items.length && items[child].cost < items[least].cost) least = child;
        }
        if (least === at) break;
        [items[least], items[at]] = [items[at], items[least]];
        at = least;
      }
    }
    return top;
  }
}

const roads = {
  harbour: { market: 4, mill: 2 },
  mill: { market: 1, bridge: 7 },
  market: { bridge: 3, castle: 8 },
  bridge: { castle: 2 },
  castle: {},
};

function ways(start) {
  const best = new Map([[start, { cost: 0, path: [start] }]]);
  const heap = new Heap();
  heap.push({ place: start, cost: 0 });
  while (heap.size) {
    const { place, cost } = heap.pop();
    if (cost > best.get(place).cost) continue;
    for (const [next, length] of Object.entries(roads[place])) {
      const total = cost + length;
      if (total < (best.get(next)?.cost ?? Infinity)) {
        best.set(next, { cost: total, path: [...best.get(place).path, next] });
        heap.push({ place: next, cost: total });
      }
    }
  }
  return best;
}

for (const [place, { cost, path }] of ways("harbour")) {
  console.log(`${place.padEnd(8)} ${String(cost).padStart(2)}  ${path.join(" > ")}`);
}
