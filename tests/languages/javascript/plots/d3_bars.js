// expects: image/svg+xml
// needs: d3 jsdom
import * as d3 from "d3";
import { JSDOM } from "jsdom";

const data = [{ name: "oak", count: 12 }, { name: "elm", count: 7 }, { name: "fir", count: 19 }];
const { window: page } = new JSDOM("<!DOCTYPE html><body></body>");
const [width, height] = [320, 180];
const x = d3.scaleBand(data.map((d) => d.name), [40, width]).padding(0.2);
const y = d3.scaleLinear([0, d3.max(data, (d) => d.count)], [height - 20, 10]).nice();

const svg = d3.select(page.document.body).append("svg").attr("width", width).attr("height", height);
svg.append("g").selectAll("rect").data(data).join("rect")
  .attr("x", (d) => x(d.name)).attr("y", (d) => y(d.count))
  .attr("width", x.bandwidth()).attr("height", (d) => y(0) - y(d.count)).attr("fill", "seagreen");
svg.append("g").attr("transform", `translate(0,${height - 20})`).call(d3.axisBottom(x));
svg.append("g").attr("transform", "translate(40,0)").call(d3.axisLeft(y).ticks(5));
svg.node()
