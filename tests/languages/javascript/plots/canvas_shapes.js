// expects: image/png
// needs: @napi-rs/canvas
const { createCanvas } = require("@napi-rs/canvas");
const canvas = createCanvas(240, 160);
const context = canvas.getContext("2d");
context.fillStyle = "white";
context.fillRect(0, 0, 240, 160);
for (let ring = 7; ring > 0; ring -= 1) {
  context.beginPath();
  context.arc(120, 80, ring * 10, 0, 2 * Math.PI);
  context.fillStyle = `hsl(${ring * 45} 70% 55%)`;
  context.fill();
}
canvas
