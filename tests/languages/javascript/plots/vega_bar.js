// expects: image/svg+xml
// needs: vega
import * as vega from "vega";
const spec = {
  width: 200,
  height: 120,
  data: [{ name: "table", values: [{ month: "Jan", rain: 28 }, { month: "Feb", rain: 55 }, { month: "Mar", rain: 43 }] }],
  scales: [
    { name: "x", type: "band", domain: { data: "table", field: "month" }, range: "width", padding: 0.1 },
    { name: "y", domain: { data: "table", field: "rain" }, nice: true, range: "height" },
  ],
  axes: [{ orient: "bottom", scale: "x" }, { orient: "left", scale: "y" }],
  marks: [{
    type: "rect",
    from: { data: "table" },
    encode: {
      enter: {
        x: { scale: "x", field: "month" },
        width: { scale: "x", band: 1 },
        y: { scale: "y", field: "rain" },
        y2: { scale: "y", value: 0 },
      },
    },
  }],
};
new vega.View(vega.parse(spec), { renderer: "none" })
