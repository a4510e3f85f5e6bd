// expects: image/svg+xml
// needs: d3 jsdom
import { bin, rollups, select, sum } from "d3";
import { JSDOM } from "jsdom";
const values = Array.from({ length: 200 }, (_, i) => ((i * 37) % 101) / 10 + ((i * 11) % 7));
const bins = bin().thresholds(12)(values);
const svg = select(new JSDOM().window.document.body).append("svg").attr("width", 260).attr("height", 120);
svg.selectAll("rect").data(bins).join("rect").attr("x", (_, i) => i * 16).attr("width", 15).attr("y", (b) => 120 - b.length * 2).attr("height", (b) => b.length * 2);
display(svg.node());
rollups([["a", 1], ["b", 2], ["a", 3]], (rows) => sum(rows, (row) => row[1]), (row) => row[0]).map(([name, value]) => ({ name, value }))
