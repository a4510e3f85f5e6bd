// expects: image/svg+xml
class Dot {
  constructor(radius) {
    this.radius = radius;
  }
  [Symbol.for("Jupyter.display")]() {
    const size = 2 * this.radius + 4;
    return {
      "image/svg+xml": `<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${size}"><circle cx="${size / 2}" cy="${size / 2}" r="${this.radius}"/></svg>`,
      "text/plain": `Dot(${this.radius})`,
    };
  }
}
new Dot(20)
