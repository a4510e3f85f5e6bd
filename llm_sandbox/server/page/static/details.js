// Details of a sandbox: what isolates it, its limits, what its creator noted.

import { el, moment, size } from "./dom.js";

const STATES = { enforced: "good", partial: "warn", absent: "quiet", unknown: "warn" };

export function detailsView(sandbox) {
  const { isolation, limits } = sandbox;
  const facts = [
    ["Id", sandbox.id], ["Language", sandbox.language], ["Backend", sandbox.backend], ["Template", sandbox.template],
    ["Made by", sandbox.api === "v1" ? "this API" : sandbox.api], ["Working directory", sandbox.workdir],
    ["Network", typeof sandbox.network === "string" ? sandbox.network : JSON.stringify(sandbox.network)],
    ["Started", moment(sandbox.started_at)], ["Ends", moment(sandbox.ends_at)],
    ...Object.entries(sandbox.metadata),
  ];
  const given = Object.entries(limits).filter(([, value]) => value !== null);
  return el("section", { class: "details" },
    el("div", { class: "card" }, el("h2", {}, "Sandbox"), pairs(facts)),
    el("div", { class: "card" }, el("h2", {}, `Isolation: ${isolation.level}`),
      el("table", { class: "grid" }, el("tbody", {}, Object.entries(isolation.controls).map(([name, control]) => el("tr", {},
        el("th", { scope: "row" }, name.replaceAll("_", " ")),
        el("td", {}, el("span", { class: `status ${STATES[control.state] ?? "warn"}` }, control.state)),
        el("td", { class: "quiet" }, control.by),
      ))))),
    el("div", { class: "card" }, el("h2", {}, "Limits"), pairs(given.map(([name, value]) => [
      name.replace(/_bytes$/, "").replaceAll("_", " "), name.endsWith("_bytes") ? size(value) : name.endsWith("seconds") ? `${value} s` : value.toLocaleString(),
    ]))),
  );
}

export function pairs(facts) {
  return el("dl", {}, facts.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, String(value))]));
}
