// Results instead of exceptions: a union that the compiler can tell apart.
type Result<T, E = string> = { ok: true; value: T } | { ok: false; error: E };

const good = <T>(value: T): Result<T, never> => ({ ok: true, value });
const bad = <E>(error: E): Result<never, E> => ({ ok: false, error });

function parseAge(text: string): Result<number> {
  const age = Number(text);
  if (!Number.isInteger(age)) return bad(`"${text}" is no whole number`);
  return age < 0 ? bad("nobody is younger than nothing") : good(age);
}

function map<T, U, E>(result: Result<T, E>, change: (value: T) => U): Result<U, E> {
  return result.ok ? good(change(result.value)) : result;
}

for (const text of ["41", "x", "-3"] as const) {
  const next = map(parseAge(text), (age) => age + 1);
  console.log(text.padStart(3), next.ok ? `then ${next.value}` : `refused: ${next.error}`);
}
