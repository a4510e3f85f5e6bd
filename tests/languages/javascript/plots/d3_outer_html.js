// expects: image/svg+xml
// needs: d3 jsdom
import { arc, create, pie, schemeSet2 } from "d3";
import { JSDOM } from "jsdom";
global.document = new JSDOM("").window.document;
const svg = create("svg").attr("width", 160).attr("height", 160).attr("viewBox", "-80 -80 160 160").attr("xmlns", "http://www.w3.org/2000/svg");
svg.selectAll("path").data(pie()([5, 3, 8, 2])).join("path").attr("d", arc().innerRadius(30).outerRadius(75)).attr("fill", (_, i) => schemeSet2[i]);
delete global.document;
svg.node().outerHTML
