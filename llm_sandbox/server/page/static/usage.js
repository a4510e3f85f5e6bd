// Use of processors and memory, as a sandbox tells it, over the last minutes.

import { get } from "./api.js";
import { el, size } from "./dom.js";

const EVERY_MS = 3000;
const KEPT = 60;
const SVG = "http://www.w3.org/2000/svg";

export function usageView(sandbox, signal) {
  const cpu = line("CPU");
  const memory = line("Memory");
  const view = el("span", { class: "usage", title: "As the sandbox tells it itself" }, cpu.element, memory.element);
  let last = null;
  const look = async () => {
    if (signal.aborted) return;
    if (!document.hidden) {
      let found;
      try {
        found = await get(`/v1/sandboxes/${sandbox.id}/usage`, { signal });
      } catch {
        // It has ended, or is busy beyond an answer.
        view.replaceChildren();
        return;
      }
      if (last) {
        const part = Math.max(0, found.cpu_s - last.cpu_s) / Math.max(0.1, found.time - last.time);
        cpu.add(part / found.cpus, `${Math.round(part * 100)} %`);
      }
      memory.add(found.memory_bytes / found.memory_limit_bytes, size(found.memory_bytes));
      last = found;
    }
    setTimeout(look, EVERY_MS);
  };
  look();
  return view;
}

function line(name) {
  const values = [];
  const words = el("span", {}, name);
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${KEPT - 1} 1`);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "polyline");
  svg.append(path);
  return {
    element: el("span", {}, words, svg),
    add(part, text) {
      values.push(Math.min(1, part));
      if (values.length > KEPT) values.shift();
      words.textContent = `${name} ${text}`;
      path.setAttribute("points", values.map((value, index) => `${KEPT - values.length + index},${1 - value}`).join(" "));
    },
  };
}
