// Abstract classes, interfaces and type guards.
interface Drawable {
  draw(): string;
}

abstract class Shape {
  abstract readonly area: number;
  protected constructor(public readonly name: string) {}
  toString(): string {
    return `${this.name} of ${this.area.toFixed(2)}`;
  }
}

class Circle extends Shape {
  constructor(private readonly radius: number) {
    super("circle");
  }
  get area(): number {
    return Math.PI * this.radius ** 2;
  }
}

class Box extends Shape implements Drawable {
  constructor(readonly width: number, readonly height: number) {
    super("box");
  }
  override get area(): number {
    return this.width * this.height;
  }
  draw(): string {
    return Array<string>(this.height).fill("#".repeat(this.width)).join("\n");
  }
}

const isDrawable = (value: unknown): value is Drawable =>
  typeof (value as Drawable | null)?.draw === "function";

const shapes: Shape[] = [new Circle(1), new Box(4, 2)];
shapes.forEach((shape) => console.log(String(shape)));
console.log(shapes.filter(isDrawable).map((shape) => shape.draw()).join("\n"));
