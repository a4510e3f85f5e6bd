// expects: image/svg+xml image/png
// needs: vega @napi-rs/canvas
import { createCanvas } from "@napi-rs/canvas";
import * as vega from "vega";
console.log("one");
const view = new vega.View(vega.parse({ width: 50, height: 50, marks: [{ type: "rect", encode: { enter: { width: { value: 30 }, height: { value: 40 } } } }] }), { renderer: "none" });
await display(view);
console.log("two");
const canvas = createCanvas(60, 60);
canvas.getContext("2d").fillRect(5, 5, 40, 40);
display(canvas);
console.log("three");
