// expects: image/png
// needs: chart.js @napi-rs/canvas
const { Chart, registerables } = await import("chart.js");
const { createCanvas } = await import("@napi-rs/canvas");
Chart.register(...registerables);
const canvas = createCanvas(300, 300);
const chart = new Chart(canvas.getContext("2d"), {
  type: "doughnut",
  data: { labels: ["a", "b", "c"], datasets: [{ data: [3, 5, 2], backgroundColor: ["#f66", "#6b6", "#66f"] }] },
  options: { animation: false, responsive: false },
});
display.png(canvas.toBuffer("image/png"));
chart.destroy();
