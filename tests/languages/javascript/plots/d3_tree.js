// expects: image/svg+xml
// needs: d3 jsdom
import { hierarchy, linkHorizontal, select, tree } from "d3";
import { JSDOM } from "jsdom";
const root = tree().size([180, 240])(hierarchy({ name: "root", children: [{ name: "a", children: [{ name: "a1" }, { name: "a2" }] }, { name: "b" }] }));
const svg = select(new JSDOM().window.document.body).append("svg").attr("width", 340).attr("height", 200);
const group = svg.append("g").attr("transform", "translate(40,10)");
group.selectAll("path").data(root.links()).join("path").attr("d", linkHorizontal().x((d) => d.y).y((d) => d.x)).attr("fill", "none").attr("stroke", "gray");
group.selectAll("text").data(root.descendants()).join("text").attr("x", (d) => d.y).attr("y", (d) => d.x).text((d) => d.data.name);
display(svg.node());
