// expects: image/svg+xml image/svg+xml
// needs: vega vega-lite
const vega = await import("vega");
const { compile } = await import("vega-lite");
const values = ["mon", "tue", "wed", "thu"].map((day, at) => ({ day, visits: [12, 30, 21, 44][at] }));
for (const mark of ["bar", "line"]) {
  const { spec } = compile({
    data: { values },
    mark,
    encoding: { x: { field: "day", type: "ordinal", sort: null }, y: { field: "visits", type: "quantitative" } },
  });
  await display(new vega.View(vega.parse(spec), { renderer: "none" }));
}
