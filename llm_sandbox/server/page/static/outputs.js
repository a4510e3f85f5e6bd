// Outputs of a run: text, pictures, tables, charts, pages. Nothing from inside runs in this page.

import { TextBlock } from "./ansi.js";
import { request } from "./api.js";
import { button, bytesOf, count, duration, el, fill, icon, save, size } from "./dom.js";

const IMAGES = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const MOST_ROWS = 200;
const ENDINGS = {
  "image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp", "image/svg+xml": "svg",
  "text/html": "html", "text/csv": "csv", "application/json": "json", "application/pdf": "pdf", "text/plain": "txt",
};

// The outputs of one run, in their order, first as they come and then with what is known at the end.
export class Outputs {
  constructor(root) {
    this.root = root;
    this.element = el("div", { class: "outputs" });
    this.text = null;
    this.displays = new Map();
    this.isToBeCleared = false;
    this.shown = [];
  }

  add(output) {
    if (output.type === "clear") {
      if (output.wait) this.isToBeCleared = true;
      else this.clear();
      return;
    }
    if (this.isToBeCleared) this.clear();
    if (output.type === "stream") return this.addText(output.name, output.text);
    if (output.type === "error") return this.addError(output);
    const element = this.bundle(output.data);
    if (output.type === "update") {
      const known = this.displays.get(output.display_id);
      if (known) {
        known.replaceWith(element);
        this.displays.set(output.display_id, element);
      }
      return undefined;
    }
    if (output.display_id) this.displays.set(output.display_id, element);
    this.text = null;
    this.element.append(element);
    this.shown.push(element);
    return undefined;
  }

  clear() {
    this.isToBeCleared = false;
    this.text = null;
    this.displays.clear();
    this.shown = [];
    fill(this.element);
  }

  addText(name, text) {
    if (this.text?.kind !== name) {
      this.text = new TextBlock(name);
      this.element.append(this.text.element);
    }
    this.text.add(text);
  }

  addError(output) {
    this.text = null;
    const block = new TextBlock("error");
    block.add(output.traceback.length ? output.traceback.join("\n") : `${output.name}: ${output.value}`);
    this.element.append(block.element);
  }

  bundle(data) {
    for (const mime of IMAGES) {
      if (typeof data[mime] === "string") return figure(imageOf(new Blob([bytesOf(data[mime])], { type: mime })));
    }
    if (typeof data["image/svg+xml"] === "string") {
      // As an image an SVG runs no script and fetches nothing.
      return figure(imageOf(new Blob([data["image/svg+xml"]], { type: "image/svg+xml" })));
    }
    if (typeof data["text/html"] === "string") return figure(page(data["text/html"]));
    const json = data["application/json"];
    const text = json === undefined ? data["text/plain"] ?? data["text/markdown"] ?? data["text/latex"] : JSON.stringify(json, null, 2);
    const block = new TextBlock("value");
    block.add(typeof text === "string" ? text : Object.keys(data).join(", "));
    return block.element;
  }

  // Tables and charts are drawn from their data, and every artifact can be taken along.
  finish(result) {
    const displays = result.outputs.map((output, index) => [index, output]).filter(([, output]) => output.type === "display" || output.type === "result");
    const places = new Map(displays.map(([index], position) => [index, position]));
    for (const artifact of result.artifacts) {
      const position = artifact.outputs?.length ? places.get(artifact.outputs[0]) : undefined;
      const old = position === undefined ? null : this.shown[position];
      if (!old?.isConnected || artifact.type === "text") continue;
      const made = this.described(artifact, old);
      if (made) {
        old.replaceWith(made);
        this.shown[position] = made;
      }
    }
    const files = result.artifacts.filter((artifact) => artifact.change);
    if (files.length || result.deleted.length) this.element.append(changes(this.root, files, result.deleted));
    for (const note of result.notes) this.element.append(el("p", { class: "note" }, note));
    this.element.append(...refusals(result));
  }

  described(artifact, old) {
    const body = [];
    const image = old.querySelector?.("img");
    if (artifact.table) body.push(table(artifact.table));
    else if (image) body.push(image);
    else if (artifact.chart) body.push(this.drawn(artifact));
    const frame = old.querySelector?.(".page");
    if (frame && !artifact.table) body.push(frame);
    if (!body.length) return null;
    const words = artifact.table
      ? `${count(artifact.table.shape[0], "row")}, ${count(artifact.table.shape[1], "column")}`
      : [artifact.chart ? chartName(artifact.chart) : "", artifact.width ? `${artifact.width} × ${artifact.height}` : "", size(artifact.size)].filter(Boolean).join(" · ");
    return figure(
      ...body,
      artifact.chart ? chartData(artifact.chart) : null,
      el("figcaption", {}, el("span", {}, words), takeAlong(this.root, artifact)),
    );
  }

  drawn(artifact) {
    const place = el("div", { class: "drawn" });
    request("GET", artifactPath(this.root, artifact, "image/svg+xml"))
      .then((response) => response.blob())
      .then((blob) => fill(place, imageOf(new Blob([blob], { type: "image/svg+xml" }))))
      .catch(() => place.remove());
    return place;
  }
}

function figure(...content) {
  return el("figure", {}, ...content);
}

export function imageOf(blob, alt = "Figure") {
  const url = URL.createObjectURL(blob);
  const done = () => URL.revokeObjectURL(url);
  return el("img", { alt, src: url, onload: done, onerror: done });
}

export function artifactPath(root, artifact, mime = null) {
  return `${root}/artifacts/${encodeURIComponent(artifact.id)}${mime ? `?mime=${encodeURIComponent(mime)}` : ""}`;
}

function takeAlong(root, artifact) {
  const name = artifact.paths?.[0]?.split("/").pop() ?? `${artifact.type}-${artifact.id.slice(0, 6)}.${ENDINGS[artifact.mime] ?? "bin"}`;
  return button(`Download ${name}`, async () => save(await (await request("GET", artifactPath(root, artifact))).blob(), name), {
    name: "download", kind: "plain", small: true,
  });
}

// A page from inside has an origin of its own, and no network; it runs once somebody asks for it.
function page(html) {
  const place = el("div", { class: "page" });
  const open = () => {
    const frame = el("iframe", { src: "frame.html", sandbox: "allow-scripts", title: "Output of the program", referrerPolicy: "no-referrer" });
    addEventListener("message", function ready(event) {
      if (event.source !== frame.contentWindow) return;
      removeEventListener("message", ready);
      frame.contentWindow.postMessage(html, "*");
    });
    fill(place, frame);
  };
  return fill(place, el("button", { type: "button", class: "open", onclick: open }, icon("play"), "Show the page that the code has made"));
}

export function table(data) {
  const numeric = data.columns.map((column) => column.type === "integer" || column.type === "number");
  const cell = (value, index) => el("td", { class: numeric[index] ? "number" : null }, value === null ? el("span", { class: "null" }, "null") : String(value));
  const row = (values) => el("tr", {}, values.map(cell));
  const head = data.head.slice(0, MOST_ROWS);
  const left = data.shape[0] - head.length - data.tail.length;
  return el("div", { class: "scroll", tabIndex: 0 },
    el("table", {},
      el("thead", {}, el("tr", {}, data.columns.map((column, index) => el("th", { scope: "col", class: numeric[index] ? "number" : null }, column.name, el("span", { class: "type" }, column.dtype))))),
      el("tbody", {}, head.map(row), left > 0 ? el("tr", { class: "gap" }, el("td", { colSpan: data.columns.length }, count(left, "more row"))) : null, data.tail.map(row)),
    ),
  );
}

function chartName(chart) {
  const kind = `${chart.kind[0].toUpperCase()}${chart.kind.slice(1)} chart`;
  return chart.title ? `${kind}: ${chart.title}` : kind;
}

function chartData(chart) {
  const panels = chart.charts?.length ? chart.charts : [chart];
  const parts = panels.flatMap((panel) => panel.series ?? []).slice(0, 40).map((series) => {
    const names = Object.keys(series.columns);
    const longest = Math.max(0, ...names.map((name) => series.columns[name].length));
    const head = Array.from({ length: Math.min(longest, 100) }, (_, index) => names.map((name) => series.columns[name][index] ?? null));
    const columns = names.map((name) => ({ name, dtype: "", type: "number" }));
    return [series.label ? el("p", { class: "quiet" }, series.label) : null, table({ columns, head, tail: [], shape: [Math.max(series.total ?? 0, longest), names.length] })];
  });
  return parts.length ? el("details", {}, el("summary", {}, "Data"), parts.flat()) : null;
}

function changes(root, files, deleted) {
  const link = (artifact, path) => el("a", { href: `#/sandbox/${root.split("/").pop()}/files/${encodeURIComponent(path)}` }, path);
  return el("ul", { class: "changes", "aria-label": "Files that this run has changed" },
    files.map((artifact) => artifact.paths.map((path) => el("li", { class: artifact.change }, icon("file"), link(artifact, path), el("span", { class: "quiet" }, `${artifact.change} · ${size(artifact.size)}`), takeAlong(root, artifact)))),
    deleted.map((path) => el("li", { class: "deleted" }, icon("trash"), el("span", {}, path), el("span", { class: "quiet" }, "deleted"))),
  );
}

export function refusals(result) {
  const found = result.findings ?? [];
  const network = result.network ?? [];
  return [
    ...found.map((finding) => el("div", { class: `finding ${finding.severity ?? ""}` }, el("b", {}, finding.rule ?? finding.code ?? "finding"), el("span", {}, finding.message ?? finding.description ?? ""), finding.line ? el("span", { class: "quiet" }, `line ${finding.line}`) : null)),
    ...network.map((event) => el("div", { class: "finding network" }, el("b", {}, event.host ?? event.name ?? event.address ?? "network"), el("span", {}, event.message ?? event.reason ?? "was refused"), event.hint ? el("code", { class: "hint" }, event.hint) : null)),
  ];
}

export function statusOf(result) {
  const wall = duration(result.usage?.wall_s);
  if (result.oom_killed) return ["bad", `out of memory · ${wall}`];
  if (result.timed_out) return ["bad", `time limit · ${wall}`];
  if (result.status !== "ok") return ["bad", `${result.cause ?? result.status}${result.exit_code ? ` · exit code ${result.exit_code}` : ""} · ${wall}`];
  return ["good", wall];
}
