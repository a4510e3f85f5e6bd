// expects: image/svg+xml
const points = Array.from({ length: 60 }, (_, x) => `${x * 5},${60 - 50 * Math.sin(x / 6)}`);
display(`<?xml version="1.0" encoding="UTF-8"?>
<!-- a sine -->
<svg xmlns="http://www.w3.org/2000/svg" width="300" height="120"><polyline points="${points.join(" ")}" fill="none" stroke="black"/></svg>
`);
