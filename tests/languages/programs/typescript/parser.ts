// Small parsers put together to one that reads nested lists.
type Parsed<T> = { value: T; rest: string } | null;
type Parser<T> = (text: string) => Parsed<T>;

const pattern = (regex: RegExp): Parser<string> => (text) => {
  const found = regex.exec(text);
  return found && { value: found[0], rest: text.slice(found[0].length) };
};

const change = <T, U>(parser: Parser<T>, to: (value: T) => U): Parser<U> => (text) => {
  const parsed = parser(text);
  return parsed && { value: to(parsed.value), rest: parsed.rest };
};

const either = <T, U>(one: Parser<T>, other: Parser<U>): Parser<T | U> => (text) => one(text) ?? other(text);

const many = <T>(parser: Parser<T>): Parser<T[]> => (text) => {
  const value: T[] = [];
  let rest = text;
  for (let parsed: Parsed<T>; (parsed = parser(rest)) !== null; rest = parsed.rest) value.push(parsed.value);
  return { value, rest };
};

const between = <T>(open: Parser<unknown>, inner: Parser<T>, close: Parser<unknown>): Parser<T> => (text) => {
  const opened = open(text);
  const parsed = opened && inner(opened.rest);
  const closed = parsed && close(parsed.rest);
  return parsed && closed && { value: parsed.value, rest: closed.rest };
};

type Expression = number | string | Expression[];
const atom: Parser<Expression> = either(
  change(pattern(/^\s*-?\d+/), Number),
  change(pattern(/^\s*[a-z+*/-]+/), (word) => word.trim()),
);
const list: Parser<Expression> = (text) => between(pattern(/^\s*\(/), many(either(atom, list)), pattern(/^\s*\)/))(text);

function evaluate(expression: Expression): number {
  if (typeof expression === "number") return expression;
  if (typeof expression === "string") throw new SyntaxError(`${expression} is no number`);
  const [operator, ...operands] = expression;
  const values = operands.map(evaluate);
  return operator === "+" ? values.reduce((a, b) => a + b, 0) : values.reduce((a, b) => a * b, 1);
}

const text = "(+ 1 (* 2 3) (+ 4 -5))";
const parsed = list(text);
console.log(JSON.stringify(parsed?.value), "=", evaluate(parsed!.value));
console.log(list("(+ 1"), atom("  nothing else")?.value);
