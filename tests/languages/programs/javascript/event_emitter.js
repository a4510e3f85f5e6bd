// A stock that tells who listens when it runs low.
const { EventEmitter, once } = require("node:events");

class Stock extends EventEmitter {
  #amounts = new Map();

  add(name, amount) {
    this.#amounts.set(name, (this.#amounts.get(name) ?? 0) + amount);
    this.emit("change", name, this.#amounts.get(name));
    return this;
  }

  take(name, amount) {
    const left = (this.#amounts.get(name) ?? 0) - amount;
    if (left < 0) throw new RangeError(`only ${left + amount} of ${name}`);
    this.#amounts.set(name, left);
    this.emit("change", name, left);
    if (left < 2) this.emit("low", name);
    return this;
  }
}

const stock = new Stock();
stock.on("change", (name, left) => console.log(`${name}: ${left}`));
const low = once(stock, "low");
stock.add("nails", 5).add("nails", 1).take("nails", 5);
console.log("low:", (await low)[0]);
try {
  stock.take("nails", 2);
} catch (error) {
  console.log(error.name, error.message, error instanceof Error);
}
