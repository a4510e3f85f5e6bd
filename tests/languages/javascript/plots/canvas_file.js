// expects:
// files: wave.png
// needs: @napi-rs/canvas
import { writeFileSync } from "node:fs";
import { createCanvas } from "@napi-rs/canvas";
const canvas = createCanvas(200, 80);
const context = canvas.getContext("2d");
context.strokeStyle = "blue";
context.moveTo(0, 40);
for (let x = 0; x < 200; x += 1) context.lineTo(x, 40 + 30 * Math.sin(x / 12));
context.stroke();
writeFileSync("wave.png", canvas.toBuffer("image/png"));
