// Runs of a session: what each took, how it ended, what was found and refused.

import { get } from "./api.js";
import { duration, el, fill, moment, notice } from "./dom.js";
import { refusals } from "./outputs.js";

export function runsView(sandbox, signal) {
  const body = el("tbody");
  const view = el("section", { class: "runs" }, el("p", { class: "quiet" }, "Loading …"));
  const load = async () => {
    const runs = (await get(`/v1/sessions/${sandbox.id}/runs`, { signal })).reverse();
    if (!runs.length) return fill(view, el("div", { class: "welcome" }, el("h2", {}, "No runs yet"), el("p", {}, "Each run of the console, or of a program that uses this session, is listed here.")));
    const longest = Math.max(...runs.map((run) => (run.ended_at ?? Date.now() / 1000) - run.started_at));
    fill(body, runs.flatMap((run) => row(sandbox, run, longest)));
    fill(view, el("div", { class: "scroll wide" }, el("table", { class: "grid" },
      el("thead", {}, el("tr", {}, ["Run", "Code", "Ended", "Time", "Started", "Files"].map((name) => el("th", { scope: "col", class: ["Run", "Time", "Files"].includes(name) ? "number" : null }, name)))),
      body,
    )));
    if (runs.some((run) => run.state === "running")) setTimeout(() => signal.aborted || load().catch(notice), 1000);
    return view;
  };
  load().catch(notice);
  return view;
}

function row(sandbox, run, longest) {
  const took = (run.ended_at ?? Date.now() / 1000) - run.started_at;
  const words = run.state === "running" ? (run.is_waiting ? "waits for input" : "running") : run.status ?? run.error?.code ?? "failed";
  const kind = run.state === "running" ? "running" : run.status === "ok" ? "good" : "bad";
  const changed = run.files.length + run.deleted.length;
  const bar = el("meter", { min: 0, max: longest || 1, value: took, "aria-hidden": "true" });
  const line = el("tr", {},
    el("td", { class: "number" }, el("a", { href: `#/sandbox/${sandbox.id}/console` }, run.number)),
    el("td", { class: "codeline" }, run.code.trim().split("\n")[0].slice(0, 120), run.code.trim().includes("\n") ? " …" : ""),
    el("td", {}, el("span", { class: `status ${kind}` }, run.exit_code ? `${words} · ${run.exit_code}` : words)),
    el("td", { class: "number" }, duration(took), bar),
    el("td", { class: "quiet" }, moment(run.started_at)),
    el("td", { class: "number", title: [...run.files, ...run.deleted].join("\n") }, changed || ""),
  );
  const found = [...refusals(run), run.error ? el("p", { class: "failure" }, run.error.message ?? "", run.error.hint ? el("span", { class: "hint" }, run.error.hint) : null) : null].filter(Boolean);
  return found.length ? [line, el("tr", { class: "more" }, el("td"), el("td", { colSpan: 5 }, found))] : [line];
}
