// expects: image/svg+xml
// needs: vega vega-lite
const spec = {
  $schema: "https://vega.github.io/schema/vega-lite/v5.json",
  data: { values: Array.from({ length: 30 }, (_, x) => ({ x, y: Math.sqrt(x) + (x % 3) / 2, kind: "abc"[x % 3] })) },
  mark: "point",
  encoding: {
    x: { field: "x", type: "quantitative" },
    y: { field: "y", type: "quantitative" },
    color: { field: "kind", type: "nominal" },
  },
};
spec
