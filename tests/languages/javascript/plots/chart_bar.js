// expects: image/png
// needs: chart.js @napi-rs/canvas
const { Chart, registerables } = require("chart.js");
const { createCanvas } = require("@napi-rs/canvas");
Chart.register(...registerables);
const chart = new Chart(createCanvas(400, 250), {
  type: "bar",
  data: { labels: ["spring", "summer", "autumn"], datasets: [{ label: "visitors", data: [120, 340, 210], backgroundColor: "#36a2eb" }] },
  options: { animation: false, responsive: false },
});
chart
