// expects: image/svg+xml
// needs: d3 jsdom
const d3 = await import("d3");
const { JSDOM } = require("jsdom");
const dom = new JSDOM();
const line = d3.line().x((_, i) => 10 + i * 8).y((v) => 90 - v * 8).curve(d3.curveMonotoneX);
const svg = d3.select(dom.window.document.body).append("svg").attr("viewBox", "0 0 200 100").attr("width", 200).attr("height", 100);
svg.append("path").attr("d", line([1, 4, 2, 8, 5, 7, 3, 9, 6])).attr("fill", "none").attr("stroke", "navy");
svg
