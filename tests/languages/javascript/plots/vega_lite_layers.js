// expects: image/svg+xml
// needs: vega vega-lite
const values = Array.from({ length: 40 }, (_, x) => ({ x, y: 20 + 10 * Math.sin(x / 5) + ((x * 7) % 5) }));
display({
  $schema: "https://vega.github.io/schema/vega-lite/v5.json",
  width: 300,
  data: { values },
  layer: [
    { mark: { type: "point", opacity: 0.4 } },
    { mark: { type: "line", color: "firebrick" }, transform: [{ window: [{ op: "mean", field: "y", as: "mean" }], frame: [-4, 4] }], encoding: { y: { field: "mean", type: "quantitative" } } },
  ],
  encoding: { x: { field: "x", type: "quantitative" }, y: { field: "y", type: "quantitative" } },
});
