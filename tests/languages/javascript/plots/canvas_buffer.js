// expects: image/png image/jpeg
// needs: @napi-rs/canvas
import { createCanvas } from "@napi-rs/canvas";
const canvas = createCanvas(120, 120);
const context = canvas.getContext("2d");
const gradient = context.createLinearGradient(0, 0, 120, 120);
gradient.addColorStop(0, "gold");
gradient.addColorStop(1, "purple");
context.fillStyle = gradient;
context.fillRect(0, 0, 120, 120);
display(canvas.toBuffer("image/png"));
display(canvas.toBuffer("image/jpeg"));
