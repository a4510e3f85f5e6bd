// A calculator: tokens, a parser by precedence, and errors that point at their place.
class CalculationError extends Error {
  constructor(message, at) {
    super(`${message} at ${at}`);
    this.name = "CalculationError";
  }
}

const OPERATORS = {
  "+": [1, (a, b) => a + b],
  "-": [1, (a, b) => a - b],
  "*": [2, (a, b) => a * b],
  "/": [2, (a, b) => a / b],
  "^": [3, (a, b) => a ** b, "right"],
};

function calculate(text) {
  let at = 0;
  const skip = () => {
    while (text[at] === " ") at += 1;
  };
  function operand() {
    skip();
    if (text[at] === "-") {
      at += 1;
      return -operand();
    }
    if (text[at] === "(") {
      at += 1;
      const value = expression(0);
      skip();
      if (text[at] !== ")") throw new CalculationError("missing )", at);
      at += 1;
      return value;
    }
    const number = /^\d+(\.\d+)?/.exec(text.slice(at));
    if (number === null) throw new CalculationError("expected a number", at);
    at += number[0].length;
    return Number(number[0]);
  }
  function expression(least) {
    let left = operand();
    for (;;) {
      skip();
      const [strength, apply, side] = OPERATORS[text[at]] ?? [0];
      if (strength <= least - (side ? 1 : 0) || strength === 0) return left;
      at += 1;
      left = apply(left, expression(side ? strength - 1 : strength));
    }
  }
  const value = expression(0);
  if (at < text.length) throw new CalculationError("unexpected text", at);
  return value;
}

for (const text of ["1 + 2 * 3", "(1 + 2) * 3", "2 ^ 3 ^ 2", "10 - 4 - 3", "-2 * 1.5", "(1 + 2", "4 $ 2"]) {
  try {
    console.log(`${text} = ${calculate(text)}`);
  } catch (error) {
    console.log(`${error.name}: ${error.message}`);
  }
}
