// Intervals merged and searched; a class with operators of its own and static helpers.
class Interval {
  private constructor(readonly from: number, readonly to: number) {}

  static of(from: number, to: number): Interval {
    if (to < from) throw new RangeError(`[${from}, ${to}] is upside down`);
    return new Interval(from, to);
  }

  static merge(intervals: readonly Interval[]): Interval[] {
    const merged: Interval[] = [];
    for (const next of [...intervals].sort((a, b) => a.from - b.from)) {
      const last = merged[merged.length - 1];
      if (last !== undefined && next.from <= last.to) {
        merged[merged.length - 1] = new Interval(last.from, Math.max(last.to, next.to));
      } else merged.push(next);
    }
    return merged;
  }

  has = (value: number): boolean => this.from <= value && value <= this.to;

  toString(): string {
    return `${this.from}..${this.to}`;
  }
}

const given: [number, number][] = [[8, 10], [1, 3], [2, 6], [15, 18], [17, 20]];
const merged = Interval.merge(given.map((pair) => Interval.of(...pair)));
console.log(merged.join(" "), merged.findIndex((each) => each.has(9)));
try {
  Interval.of(3, 1);
} catch (error) {
  if (error instanceof RangeError) console.log(error.message);
}
console.log(merged.reduce((sum: number, { from, to }) => sum + (to - from), 0));
