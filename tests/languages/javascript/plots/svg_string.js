// expects: image/svg+xml
const bars = [3, 7, 5, 9].map((value, at) => `<rect x="${at * 30 + 10}" y="${100 - value * 10}" width="20" height="${value * 10}" fill="steelblue"/>`);
`<svg xmlns="http://www.w3.org/2000/svg" width="140" height="110" viewBox="0 0 140 110">
  ${bars.join("\n  ")}
</svg>`
