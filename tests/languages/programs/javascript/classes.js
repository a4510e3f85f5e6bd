// Shapes: private fields, getters, inheritance, symbols that the language calls.
class Shape {
  static #made = 0;
  static get made() {
    return Shape.#made;
  }
  constructor() {
    Shape.#made += 1;
  }
  get area() {
    throw new TypeError(`${this.constructor.name} has no area`);
  }
  [Symbol.toPrimitive](hint) {
    return hint === "string" ? `${this.constructor.name}(${this.area})` : this.area;
  }
}

class Rectangle extends Shape {
  #sides;
  constructor(...sides) {
    super();
    this.#sides = sides;
  }
  get area() {
    const [a, b = a] = this.#sides;
    return a * b;
  }
  *[Symbol.iterator]() {
    yield* this.#sides;
  }
}

class Square extends Rectangle {
  static of = (side) => new this(side);
}

const shapes = [new Rectangle(2, 3), Square.of(4)];
console.log(shapes.map(String), +shapes[0] + +shapes[1], [...shapes[0]]);
console.log(shapes[1] instanceof Rectangle, Shape.made, Object.keys(shapes[1]));
try {
  new Shape().area;
} catch ({ name, message }) {
  console.log(name, "-", message);
}
