// Evaluations: their progress, and the verdict of each sample.

import { follow, get, request } from "./api.js";
import { count, duration, el, fill, moment, notice, size } from "./dom.js";

const EVERY_MS = 1000;

export function evaluationsView(signal, id) {
  const view = el("section", { class: "evaluations" }, el("p", { class: "quiet" }, "Loading …"));
  const load = id ? () => followed(view, signal, id) : async () => {
    const found = await get("/v1/evaluations", { signal });
    fill(view, all(found));
    if (found.some((item) => item.state === "running")) setTimeout(() => signal.aborted || load().catch(notice), EVERY_MS);
  };
  load().catch((error) => error.name === "AbortError" || notice(error));
  return view;
}

async function followed(view, signal, id) {
  const path = `/v1/evaluations/${encodeURIComponent(id)}`;
  const card = el("div", { class: "card" });
  const body = el("tbody");
  fill(view,
    el("header", { class: "title" }, el("h1", {}, `Evaluation ${id.slice(0, 8)}`), el("span", { class: "grow" }), el("a", { href: "#/evaluations" }, "All evaluations")),
    card,
    el("div", { class: "scroll wide" }, el("table", { class: "grid" },
      el("thead", {}, el("tr", {}, ["Sample", "Verdict", "Score", "Time", "Memory", ""].map((name) => el("th", { scope: "col", class: ["Score", "Time", "Memory"].includes(name) ? "number" : null }, name)))),
      body,
    )),
  );
  const told = async () => fill(card, summary(await get(path, { signal })));
  await told();
  const timer = setInterval(() => told().catch(() => clearInterval(timer)), EVERY_MS);
  const open = (headers = {}) => request("GET", `${path}/events`, { headers, signal });
  try {
    await follow(() => open(), open, (event) => event.name === "result" && body.append(row(event.data)), signal, ["done", "error"]);
  } finally {
    clearInterval(timer);
  }
  await told();
}

function row(result) {
  const most = (name) => Math.max(0, ...result.tests.map((test) => test[name] ?? 0));
  const failed = result.tests.find((test) => test.verdict !== "AC");
  return el("tr", {},
    el("th", { scope: "row" }, result.id),
    el("td", {}, el("span", { class: `verdict v-${result.verdict}` }, result.verdict)),
    el("td", { class: "number" }, result.score ?? "none"),
    el("td", { class: "number" }, duration(most("time_wall"))),
    el("td", { class: "number" }, size(most("memory_peak"))),
    el("td", { class: "quiet" }, result.error || (failed ? reason(failed) : "")),
  );
}

function reason(test) {
  const { difference } = test;
  const where = test.name || `test ${test.index + 1}`;
  if (difference) return `${where}, ${difference.where}: expected ${difference.expected}, got ${difference.actual}`;
  return `${where}: ${test.error || test.limit || test.stderr_tail.trim().split("\n").pop()}`;
}

function all(found) {
  if (!found.length) {
    return el("div", { class: "welcome" }, el("h2", {}, "No evaluation yet"), el("p", {}, "Samples that are graded with POST /v1/evaluate, or with evaluate(engine=\"http\"), are listed here while they run and after."));
  }
  return [
    el("header", { class: "title" }, el("h1", {}, "Evaluations")),
    el("div", { class: "cards" }, found.map((item) => el("a", { class: "card", href: `#/evaluations/${item.id}` }, ...summary(item)))),
  ];
}

function summary(item) {
  return [
    el("header", {}, el("b", {}, item.id.slice(0, 8)), el("span", { class: `status ${item.state === "running" ? "running" : "good"}` }, item.state), el("span", { class: "grow" }), el("span", { class: "quiet" }, moment(item.started_at))),
    bar(item.verdicts, item.total),
    el("p", { class: "quiet" }, `${item.done.toLocaleString()} of ${count(item.total, "sample")} · ${duration((item.ended_at ?? Date.now() / 1000) - item.started_at)}`),
  ];
}

function bar(verdicts, total) {
  const place = el("div", { class: "verdicts", role: "img", "aria-label": Object.entries(verdicts).map(([name, number]) => `${name}: ${number}`).join(", ") });
  for (const [name, number] of Object.entries(verdicts)) {
    const part = el("span", { class: `v-${name}`, title: `${name}: ${number}` }, number / total > 0.08 ? `${name} ${number}` : "");
    part.style.flexGrow = number;
    place.append(part);
  }
  const rest = total - Object.values(verdicts).reduce((sum, number) => sum + number, 0);
  if (rest > 0) {
    const part = el("span", { class: "v-rest" });
    part.style.flexGrow = rest;
    place.append(part);
  }
  return place;
}
