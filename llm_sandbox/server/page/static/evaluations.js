// Evaluations: their progress, and the verdict of each sample.

import { get } from "./api.js";
import { count, duration, el, fill, moment, notice } from "./dom.js";

const EVERY_MS = 1000;

export function evaluationsView(signal, id) {
  const view = el("section", { class: "evaluations" }, el("p", { class: "quiet" }, "Loading …"));
  const load = async () => {
    const found = await get(id ? `/v1/evaluations/${id}` : "/v1/evaluations", { signal });
    fill(view, id ? one(found) : all(found));
    const isRunning = id ? found.state === "running" : found.some((item) => item.state === "running");
    if (isRunning) setTimeout(() => signal.aborted || load().catch(notice), EVERY_MS);
  };
  load().catch((error) => error.name === "AbortError" || notice(error));
  return view;
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

function one(item) {
  return [
    el("header", { class: "title" }, el("h1", {}, `Evaluation ${item.id.slice(0, 8)}`), el("a", { href: "#/evaluations" }, "All evaluations")),
    el("div", { class: "card" }, ...summary(item)),
    el("div", { class: "scroll wide" }, el("table", { class: "grid" },
      el("thead", {}, el("tr", {}, ["Sample", "Verdict", "Score", "Time"].map((name) => el("th", { scope: "col" }, name)))),
      el("tbody", {}, item.results.map((result) => el("tr", {},
        el("th", { scope: "row" }, result.id), el("td", {}, el("span", { class: `verdict v-${result.verdict}` }, result.verdict)),
        el("td", { class: "number" }, result.score ?? ""), el("td", { class: "number" }, duration(result.wall_s)),
      ))),
    )),
  ];
}
