// Text set in a column: wrapped, justified and centred, with letters that take two units.
const words = "Every line but the last is filled to the very end of its column, naïve café or not.";

function wrap(text, width) {
  const lines = [[]];
  for (const word of text.split(" ")) {
    const length = lines.at(-1).join(" ").length;
    if (length && length + 1 + word.length > width) lines.push([]);
    lines.at(-1).push(word);
  }
  return lines;
}

function justify(line, width) {
  const gaps = line.length - 1;
  if (gaps === 0) return line[0];
  let spare = width - line.join("").length;
  return line.reduce((text, word, index) => {
    const gap = Math.ceil(spare / (gaps - index + 1));
    spare -= gap;
    return text + " ".repeat(gap) + word;
  });
}

const lines = wrap(words, 24);
lines.forEach((line, index) => console.log(`|${index < lines.length - 1 ? justify(line, 24) : line.join(" ").padEnd(24)}|`));
const centre = (text, width) => text.padStart((width + text.length) / 2).padEnd(width);
console.log(`|${centre("~ end ~", 24)}|`);
console.log([..."🎉é"].length, "🎉é".length, "e\u0301".normalize("NFC") === "é", [..."abc"].reverse().join(""));
