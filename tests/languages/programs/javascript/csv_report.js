// A table in CSV with quoted fields, read by a small state machine and summed up.
const csv = `item,price,amount
"tea, green",3.20,4
"the ""good"" rice",12.5,2
salt,0.9,10
`;

function parse(text) {
  const rows = [[]];
  let field = "";
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at];
    if (quoted) {
      if (letter !== '"') field += letter;
      else if (text[at + 1] === '"') field += text[++at];
      else quoted = false;
    } else if (letter === '"') quoted = true;
    else if (letter === ",") {
      rows.at(-1).push(field);
      field = "";
    } else if (letter === "\n") {
      rows.at(-1).push(field);
      field = "";
      rows.push([]);
    } else field += letter;
  }
  return rows.filter((row) => row.length);
}

const [header, ...body] = parse(csv);
const records = body.map((row) => Object.fromEntries(row.map((cell, at) => [header[at], cell])));
let total = 0;
for (const { item, price, amount } of records) {
  const sum = Number(price) * Number(amount);
  total += sum;
  console.log(`${item.padEnd(18)}${sum.toFixed(2).padStart(8)}`);
}
console.log(`${"total".padEnd(18)}${total.toFixed(2).padStart(8)}`);
