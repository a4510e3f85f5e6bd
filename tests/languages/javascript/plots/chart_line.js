// expects: image/png
// needs: chart.js @napi-rs/canvas
import { Chart, registerables } from "chart.js";
import { createCanvas } from "@napi-rs/canvas";
Chart.register(...registerables);
const canvas = createCanvas(420, 260);
const labels = Array.from({ length: 20 }, (_, i) => i);
new Chart(canvas, {
  type: "line",
  data: { labels, datasets: [{ label: "sine", data: labels.map((i) => Math.sin(i / 3)), borderColor: "crimson" }, { label: "cosine", data: labels.map((i) => Math.cos(i / 3)) }] },
  options: { animation: false, responsive: false },
});
display(canvas);
