// expects: image/svg+xml
// needs: vega
const vega = require("vega");
const view = new vega.View(
  vega.parse({
    width: 150,
    height: 150,
    data: [{ name: "parts", values: [4, 6, 10], transform: [{ type: "pie", field: "data" }] }],
    scales: [{ name: "color", type: "ordinal", domain: { data: "parts", field: "data" }, range: { scheme: "category10" } }],
    marks: [{
      type: "arc",
      from: { data: "parts" },
      encode: {
        enter: {
          fill: { scale: "color", field: "data" },
          x: { signal: "width / 2" },
          y: { signal: "height / 2" },
          startAngle: { field: "startAngle" },
          endAngle: { field: "endAngle" },
          outerRadius: { value: 70 },
        },
      },
    }],
  }),
  { renderer: "none" },
);
await view.toSVG()
