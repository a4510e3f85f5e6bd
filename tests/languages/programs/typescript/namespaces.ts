// Namespaces, tuples, and functions that count their calls.
namespace Geometry {
  export type Point = readonly [x: number, y: number];
  export const origin: Point = [0, 0];
  export function distance([ax, ay]: Point, [bx, by]: Point = origin): number {
    return Math.hypot(ax - bx, ay - by);
  }
}

type Method<A extends unknown[], R> = (this: unknown, ...given: A) => R;

function counted<A extends unknown[], R>(body: Method<A, R>): Method<A, R> & { calls: number } {
  const wrapped = function (this: unknown, ...given: A): R {
    wrapped.calls += 1;
    return body.apply(this, given);
  } as Method<A, R> & { calls: number };
  wrapped.calls = 0;
  return wrapped;
}

const distance = counted(Geometry.distance as Method<[Geometry.Point, Geometry.Point?], number>);
const points: Geometry.Point[] = [[3, 4], [5, 12]];
console.log(points.map((point) => distance(point)), distance.calls);
console.log(distance(...([points[0], points[1]] as [Geometry.Point, Geometry.Point])).toFixed(3), distance.calls);
