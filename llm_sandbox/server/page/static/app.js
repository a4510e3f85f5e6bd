// The page: its views by the address, the list of sandboxes beside them, and the keys that move between them.

import { get, key, post, request } from "./api.js";
import { ConsoleView } from "./console.js";
import { detailsView } from "./details.js";
import { button, confirmed, count, dialog, duration, el, fill, icon, notice } from "./dom.js";
import { evaluationsView } from "./evaluations.js";
import { FilesView } from "./files.js";
import { askForKey, keysView } from "./keys.js";
import { runsView } from "./runs.js";
import { actions, snippetButton } from "./snippets.js";
import { terminalView } from "./terminal.js";
import { usageView } from "./usage.js";

const TABS = [["console", "Console"], ["files", "Files"], ["terminal", "Terminal"], ["runs", "Runs"], ["details", "Details"]];
const SESSION_TABS = new Set(["console", "runs"]);
const PAGES = [["", "Sandboxes"], ["evaluations", "Evaluations"], ["keys", "Keys"]];
const REFRESH_MS = 3000;
const EXTEND_S = 600;

const main = document.getElementById("main");
const side = document.getElementById("side");
const state = { sandboxes: [], server: null, leave: new AbortController(), shown: null };

function route() {
  const [page = "", id = null, tab = "console", ...rest] = location.hash.replace(/^#\/?/, "").split("/");
  return { page, id, tab, rest: rest.map(decodeURIComponent).join("/") };
}

// --- sandboxes

// Returns whether anything but the time has changed: what has not keeps its focus.
async function refresh() {
  const known = signature();
  state.sandboxes = await get("/v1/sandboxes");
  const hasChanged = known !== signature();
  if (hasChanged) drawSide();
  const { page, id } = route();
  if (page === "sandbox" && state.shown?.id === id) {
    const known = state.sandboxes.find((one) => one.id === id);
    if (known) state.shown.update(known);
    else state.shown.gone();
  }
  return hasChanged;
}

function signature() {
  return JSON.stringify(state.sandboxes.map((one) => [one.id, one.state, one.is_waiting, one.ends_at]));
}

function since(moment) {
  return el("span", { data: { since: moment } }, duration(Date.now() / 1000 - moment));
}

function until(moment) {
  return el("span", { data: { until: moment } }, left(moment));
}

setInterval(() => {
  for (const one of document.querySelectorAll("[data-since]")) one.textContent = duration(Date.now() / 1000 - Number(one.dataset.since));
  for (const one of document.querySelectorAll("[data-until]")) one.textContent = left(Number(one.dataset.until));
}, 1000);

function drawSide() {
  const { page, id } = route();
  const items = state.sandboxes.map((one) => el("li", {}, el("a", { href: `#/sandbox/${one.id}`, "aria-current": page === "sandbox" && one.id === id ? "page" : null },
    el("span", { class: `dot ${one.is_waiting ? "waiting" : one.state}`, title: one.is_waiting ? "waits for input" : one.state }),
    el("span", { class: "name" }, nameOf(one)),
    el("span", { class: "quiet" }, `${one.backend} · `, since(one.started_at)),
  )));
  fill(side,
    el("header", {}, el("h2", {}, "Sandboxes"), el("span", { class: "grow" }), button("New sandbox", create, { name: "plus", kind: "acts plain", small: true, title: "New sandbox (N)" })),
    items.length ? el("ul", {}, items) : el("p", { class: "quiet" }, "None is living."),
  );
}

function nameOf(sandbox) {
  return sandbox.metadata.name ?? `${sandbox.language} ${sandbox.id.slice(0, 6)}`;
}

async function create() {
  const languages = (await get("/v1/languages")).filter((one) => !one.reason || one.backend);
  const chosen = el("select", { "aria-label": "Language" }, languages.map((one) => el("option", { value: one.name, selected: one.name === "python" }, one.name)));
  const name = el("input", { type: "text", maxLength: 64, placeholder: "for people, optional" });
  const network = el("select", {}, ["blocked", "internet"].map((word) => el("option", { value: word, disabled: word === "internet" && state.server.network === "blocked" }, word)));
  const minutes = el("input", { type: "number", min: 1, max: Math.floor(state.server.longest_s / 60), value: 60 });
  const asked = () => ({
    lang: chosen.value, network: network.value, session_timeout: minutes.value * 60,
    ...(name.value ? { metadata: { name: name.value } } : {}),
  });
  const close = dialog("New sandbox", el("div", { class: "form" },
    el("label", {}, "Language", chosen), el("label", {}, "Name", name), el("label", {}, "Network", network), el("label", {}, "Minutes until it ends", minutes),
  ), [
    snippetButton(() => actions.create(asked())),
    el("span", { class: "grow" }),
    button("Create", async () => {
      const made = await post("/v1/sessions", asked());
      close();
      await refresh();
      location.hash = `#/sandbox/${made.id}`;
    }, { kind: "primary" }),
  ]);
}

async function stop(sandbox) {
  if (!(await confirmed(`Stop ${nameOf(sandbox)}? What is in it is lost.`, "Stop"))) return;
  await request("DELETE", `/v1/sandboxes/${sandbox.id}`);
  await refresh();
  if (route().page === "") fill(main, homeView());
  else location.hash = "#/";
}

// --- views

function homeView() {
  const { server } = state;
  const rows = state.sandboxes.map((one) => el("tr", {},
    el("td", {}, el("a", { class: "named", href: `#/sandbox/${one.id}` }, el("span", { class: `dot ${one.is_waiting ? "waiting" : one.state}` }), nameOf(one))),
    el("td", {}, one.is_waiting ? "waits for input" : one.state), el("td", {}, one.language), el("td", {}, one.backend), el("td", {}, one.api),
    el("td", { class: "number" }, since(one.started_at)), el("td", { class: "number" }, until(one.ends_at)),
    el("td", {}, button(`Stop ${nameOf(one)}`, () => stop(one), { name: "trash", kind: "acts plain", small: true })),
  ));
  return el("section", { class: "home" },
    el("header", { class: "title" }, el("h1", {}, "Sandboxes"), el("span", { class: "quiet" }, `${state.sandboxes.length} of ${server.quotas.sandboxes}`), el("span", { class: "grow" }),
      snippetButton(() => actions.create({ lang: "python" })),
      button("New sandbox", create, { name: "plus", kind: "acts primary" })),
    rows.length
      ? el("div", { class: "scroll wide" }, el("table", { class: "grid" }, el("thead", {}, el("tr", {}, ["Sandbox", "State", "Language", "Backend", "Made by", "Age", "Ends in", ""].map((name) => el("th", { scope: "col", class: name === "Age" || name === "Ends in" ? "number" : null }, name)))), el("tbody", {}, rows)))
      : el("div", { class: "welcome" }, el("h2", {}, "No sandbox is living"), el("p", {}, "A sandbox runs code away from this computer's files and networks, and keeps its state until it ends."), el("div", { class: "examples" }, button("New sandbox", create, { name: "plus", kind: "acts primary" }))),
  );
}

function left(moment) {
  return duration(Math.max(0, moment - Date.now() / 1000));
}

function sandboxView(sandbox, tab, rest) {
  const signal = state.leave.signal;
  const isSession = sandbox.api === "v1";
  const wanted = !isSession && SESSION_TABS.has(tab) ? "files" : tab;
  const dot = el("span", { class: "dot" });
  const words = el("span", { class: "state" });
  const ends = el("span", { class: "ends" });
  const bar = el("progress", { max: 1, "aria-label": "Time left" });
  let current = sandbox;
  const tick = () => {
    dot.className = `dot ${current.is_waiting ? "waiting" : current.state}`;
    words.textContent = current.is_waiting ? "waits for input" : current.state;
    ends.textContent = `ends in ${left(current.ends_at)}`;
    bar.value = Math.max(0, Math.min(1, (current.ends_at - Date.now() / 1000) / (current.ends_at - current.started_at)));
  };
  tick();
  const timer = setInterval(tick, 1000);
  signal.addEventListener("abort", () => clearInterval(timer));
  const tabs = TABS.filter(([name]) => isSession || !SESSION_TABS.has(name));
  const usage = usageView(sandbox, signal);
  const body = el("div", { class: "body" });
  state.shown = {
    id: sandbox.id,
    update: (known) => {
      current = known;
      tick();
    },
    gone: () => {
      clearInterval(timer);
      dot.className = "dot gone";
      words.textContent = "ended";
      ends.textContent = "";
      bar.remove();
      view.classList.add("gone");
    },
  };
  const view = el("div", { class: "sandbox" },
    el("header", { class: "title" },
      dot, el("h1", {}, nameOf(sandbox)), words, el("span", { class: "chip" }, sandbox.language), el("span", { class: "chip" }, sandbox.backend),
      sandbox.network === "blocked" ? null : el("span", { class: "chip warn" }, "network"),
      el("span", { class: "grow" }),
      el("span", { class: "deadline" }, ends, bar),
      isSession ? button("Extend", async () => state.shown.update(await post(`/v1/sessions/${sandbox.id}/timeout`, { seconds: Math.round(Math.min(state.server.longest_s, Math.max(0, current.ends_at - Date.now() / 1000) + EXTEND_S)) })), { name: "clock", kind: "acts", title: "Ten minutes more" }) : null,
      snippetButton(() => actions.stop(sandbox)),
      button("Stop", () => stop(sandbox), { kind: "acts danger" }),
    ),
    el("div", { class: "tabs" },
      el("nav", { "aria-label": "Parts of the sandbox" }, tabs.map(([name, label]) => el("a", { class: name === "terminal" ? "acts" : null, href: `#/sandbox/${sandbox.id}/${name}`, "aria-current": name === wanted ? "page" : null }, label))),
      usage,
    ),
    body,
  );
  const makers = {
    console: () => new ConsoleView(sandbox, signal, { onRun: () => refresh().catch(notice) }).element,
    files: () => new FilesView(sandbox, signal, rest).element,
    terminal: () => terminalView(sandbox, signal),
    runs: () => runsView(sandbox, signal),
    details: () => detailsView(sandbox),
  };
  body.append((makers[wanted] ?? makers.details)());
  return view;
}

async function draw() {
  state.leave.abort();
  state.leave = new AbortController();
  state.shown = null;
  document.body.classList.remove("with-side");
  const { page, id, tab, rest } = route();
  fill(document.getElementById("nav"), PAGES.map(([name, label]) => el("a", { href: `#/${name}`, "aria-current": page === name || (name === "" && page === "sandbox") ? "page" : null }, label)));
  drawSide();
  if (page === "evaluations") fill(main, evaluationsView(state.leave.signal, id));
  else if (page === "keys") fill(main, keysView());
  else if (page === "sandbox") {
    if (!state.sandboxes.some((one) => one.id === id)) await refresh();
    const known = state.sandboxes.find((one) => one.id === id);
    fill(main, known ? sandboxView(known, tab, rest) : el("div", { class: "welcome" }, el("h2", {}, "This sandbox has ended"), el("p", {}, "Its files and variables are gone with it."), el("div", { class: "examples" }, el("a", { href: "#/" }, "All sandboxes"))));
  } else fill(main, homeView());
  document.title = page === "sandbox" && state.shown ? `${main.querySelector("h1").textContent} – llm-sandbox` : "llm-sandbox";
}

// --- keyboard

const KEYS = [
  ["N", "New sandbox"], ["1 – 5", "Console, files, terminal, runs, details"], ["/", "To the code"], ["Shift+Enter", "Run the code"],
  ["↑ ↓", "Earlier code, at the edge of the text"], ["Esc", "Out of the code"], ["Ctrl+C", "Interrupt, outside of text"], ["Ctrl+Shift+Esc", "Out of the terminal"], ["?", "These keys"],
];

function showKeys() {
  dialog("Keys", el("dl", { class: "keylist" }, KEYS.flatMap(([name, words]) => [el("dt", {}, el("kbd", {}, name)), el("dd", {}, words)])));
}

addEventListener("keydown", (event) => {
  if (event.target.closest("input, textarea, select, dialog") || event.altKey || event.metaKey) return;
  const { page, id } = route();
  if (event.ctrlKey) {
    if (event.key === "c" && page === "sandbox" && String(getSelection()) === "") {
      post(`/v1/sessions/${id}/interrupt`).catch(notice);
      event.preventDefault();
    }
    return;
  }
  const tab = page === "sandbox" ? main.querySelectorAll(".tabs a")[Number(event.key) - 1] : null;
  if (tab) tab.click();
  else if (event.key === "n") create().catch(notice);
  else if (event.key === "?") showKeys();
  else if (event.key === "/") main.querySelector(".editor textarea")?.focus();
  else return;
  event.preventDefault();
});

document.getElementById("help").addEventListener("click", showKeys);
const menu = document.getElementById("menu");
menu.append(icon("menu"));
menu.addEventListener("click", () => menu.setAttribute("aria-expanded", String(document.body.classList.toggle("with-side"))));

// --- start

async function start() {
  try {
    state.server = await get("/v1/limits");
  } catch (error) {
    if (error.status !== 401 && error.status !== 403) throw error;
    fill(main, askForKey(key, start, key.get() ? "The server does not know this key." : "Only those with a key may run code here."));
    key.clear();
    return;
  }
  document.body.classList.toggle("read-only", !state.server.scopes.includes("run"));
  document.getElementById("server").textContent = `${state.server.tenant} · ${state.server.version}`;
  await refresh();
  addEventListener("hashchange", () => draw().catch(notice));
  await draw();
  watch();
}

// The list follows what others do, while somebody looks.
function watch() {
  setTimeout(async () => {
    if (!document.hidden) {
      const hasChanged = await refresh().catch(() => false);
      if (hasChanged && route().page === "") fill(main, homeView());
    }
    watch();
  }, REFRESH_MS);
}

start().catch(notice);
