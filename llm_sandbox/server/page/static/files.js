// Files of a sandbox: a tree, previews, upload by drop.

import { filePath, get, request } from "./api.js";
import { TextBlock } from "./ansi.js";
import { act, button, confirmed, el, fill, icon, moment, notice, save, size } from "./dom.js";
import { highlighted } from "./highlight.js";
import { imageOf, table } from "./outputs.js";
import { actions, snippetButton } from "./snippets.js";

const PREVIEW_BYTES = 2_000_000;
const IMAGES = { png: "image/png", jpg: "image/jpeg", jpeg: "image/jpeg", gif: "image/gif", webp: "image/webp", svg: "image/svg+xml" };
const LANGUAGES = { py: "python", js: "javascript", mjs: "javascript", ts: "typescript", r: "r", rb: "ruby", sh: "bash", java: "java", c: "cpp", cc: "cpp", cpp: "cpp", h: "cpp", go: "go" };

export class FilesView {
  constructor(sandbox, signal, path) {
    this.sandbox = sandbox;
    this.root = `/v1/sandboxes/${sandbox.id}`;
    this.signal = signal;
    this.open = new Set();
    this.tree = el("ul", { class: "tree", role: "tree", "aria-label": "Files" });
    this.preview = el("div", { class: "preview" }, el("p", { class: "quiet" }, "Choose a file to look at it."));
    const picker = el("input", { type: "file", multiple: true, hidden: true, onchange: () => this.upload([...picker.files]).then(() => { picker.value = ""; }) });
    this.element = el("section", { class: "files" },
      el("div", { class: "list" },
        el("header", {},
          el("span", { class: "path" }, sandbox.workdir), el("span", { class: "grow" }),
          snippetButton(() => actions.write(sandbox)),
          button("Upload", () => picker.click(), { name: "upload", kind: "acts", title: "Upload files, or drop them here" }),
          button("Look again", () => this.load(), { name: "restart", kind: "plain", small: true }),
          picker,
        ),
        this.tree,
        el("p", { class: "drop quiet acts" }, "Drop files anywhere here to upload them."),
      ),
      this.preview,
    );
    this.element.addEventListener("dragover", (event) => {
      event.preventDefault();
      this.element.classList.add("dropping");
    });
    this.element.addEventListener("dragleave", (event) => {
      if (!this.element.contains(event.relatedTarget)) this.element.classList.remove("dropping");
    });
    this.element.addEventListener("drop", (event) => {
      event.preventDefault();
      this.element.classList.remove("dropping");
      this.upload([...event.dataTransfer.files]);
    });
    this.load().then(() => path && this.show(path)).catch(notice);
  }

  async load() {
    fill(this.tree, await this.level("."));
  }

  async level(path) {
    const found = await get(`${this.root}/files?path=${encodeURIComponent(path)}`, { signal: this.signal });
    found.sort((one, other) => (other.kind === "directory") - (one.kind === "directory") || one.name.localeCompare(other.name));
    if (!found.length) return [el("li", { class: "quiet empty" }, "empty")];
    return Promise.all(found.map((entry) => this.entry(path === "." ? entry.path : `${path}/${entry.path}`, entry)));
  }

  async entry(path, entry) {
    if (entry.kind !== "directory") {
      return el("li", { role: "treeitem" }, el("button", { type: "button", class: "entry", data: { path }, onclick: () => this.show(path).catch(notice) }, icon("file"), el("span", { class: "name" }, entry.name), el("span", { class: "quiet" }, entry.kind === "link" ? `→ ${entry.target}` : size(entry.size))));
    }
    const inner = el("ul", { role: "group", hidden: true });
    const item = el("li", { role: "treeitem", "aria-expanded": "false" });
    const set = async (isOpen) => {
      item.setAttribute("aria-expanded", String(isOpen));
      inner.hidden = !isOpen;
      if (isOpen) {
        this.open.add(path);
        fill(inner, await this.level(path));
      } else this.open.delete(path);
    };
    item.append(el("button", { type: "button", class: "entry folder", onclick: () => set(inner.hidden).catch(notice) }, icon("right"), icon("folder"), el("span", { class: "name" }, entry.name)), inner);
    if (this.open.has(path)) await set(true);
    return item;
  }

  async show(path) {
    for (const entry of this.tree.querySelectorAll(".entry")) entry.classList.toggle("chosen", entry.dataset.path === path);
    fill(this.preview, el("p", { class: "quiet" }, "Loading …"));
    const folder = path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : ".";
    const name = path.split("/").pop();
    const entry = (await get(`${this.root}/files?path=${encodeURIComponent(folder)}`)).find((one) => one.name === name);
    if (!entry) throw new Error(`There is no file ${path}`);
    const read = async () => (await request("GET", filePath(this.root, path))).blob();
    const header = el("header", {},
      el("h2", {}, name), el("span", { class: "quiet" }, `${size(entry.size)} · ${moment(entry.mtime)}`), el("span", { class: "grow" }),
      snippetButton(() => actions.read(this.sandbox, path)),
      button("Download", async () => save(await read(), name), { name: "download" }),
      button("Delete", () => this.remove(path, name), { name: "trash", kind: "acts plain", small: true }),
    );
    const content = entry.size > PREVIEW_BYTES ? [el("p", { class: "quiet" }, `Larger than ${size(PREVIEW_BYTES)}: download it to look at it.`)] : await this.content(name, await read());
    fill(this.preview, header, content);
  }

  async content(name, blob) {
    const ending = name.includes(".") ? name.split(".").pop().toLowerCase() : "";
    if (ending in IMAGES) return [el("figure", {}, imageOf(new Blob([blob], { type: IMAGES[ending] }), name))];
    let text;
    try {
      text = new TextDecoder("utf-8", { fatal: true }).decode(await blob.arrayBuffer());
    } catch {
      return [el("pre", { class: "value" }, hexadecimal(new Uint8Array(await blob.slice(0, 4096).arrayBuffer())))];
    }
    if (ending === "csv" || ending === "tsv") return [table(tableOf(text, ending === "csv" ? "," : "\t"))];
    if (ending === "json") {
      try {
        text = JSON.stringify(JSON.parse(text), null, 2);
      } catch {
        // It is shown as it is.
      }
    }
    if (ending in LANGUAGES) return [el("pre", { class: "code" }, highlighted(text, LANGUAGES[ending]))];
    const block = new TextBlock("value");
    block.add(text);
    return [block.element];
  }

  async remove(path, name) {
    if (!(await confirmed(`Delete ${name}?`, "Delete"))) return;
    await request("DELETE", filePath(this.root, path));
    fill(this.preview, el("p", { class: "quiet" }, `${name} is deleted.`));
    await this.load();
  }

  async upload(files) {
    for (const file of files) {
      const row = el("li", { class: "uploading" }, icon("upload"), el("span", { class: "name" }, file.name), el("span", { class: "quiet" }, size(file.size)));
      this.tree.prepend(row);
      await act(row, () => request("PUT", filePath(this.root, file.name), { body: file, headers: { "Content-Type": "application/octet-stream" } }));
      row.remove();
    }
    await this.load();
    if (files.length === 1) await this.show(files[0].name);
  }
}

function hexadecimal(bytes) {
  const lines = [];
  for (let place = 0; place < bytes.length; place += 16) {
    const row = [...bytes.slice(place, place + 16)];
    const codes = row.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const text = row.map((byte) => (byte > 31 && byte < 127 ? String.fromCharCode(byte) : "·")).join("");
    lines.push(`${place.toString(16).padStart(6, "0")}  ${codes.padEnd(47)}  ${text}`);
  }
  return lines.join("\n");
}

// Rows of separated values, with quotes as RFC 4180 has them.
function tableOf(text, separator) {
  const rows = [];
  let row = [];
  let cell = "";
  let isQuoted = false;
  for (let place = 0; place < text.length && rows.length < 1001; place += 1) {
    const character = text[place];
    if (isQuoted) {
      if (character !== '"') cell += character;
      else if (text[place + 1] === '"') {
        cell += '"';
        place += 1;
      } else isQuoted = false;
    } else if (character === '"' && cell === "") isQuoted = true;
    else if (character === separator) {
      row.push(cell);
      cell = "";
    } else if (character === "\n") {
      row.push(cell.replace(/\r$/, ""));
      rows.push(row);
      [row, cell] = [[], ""];
    } else cell += character;
  }
  if (cell !== "" || row.length) rows.push([...row, cell]);
  const [names = [], ...values] = rows;
  const columns = names.map((name, index) => {
    const isNumber = values.length > 0 && values.every((one) => one[index] === undefined || one[index] === "" || !Number.isNaN(Number(one[index])));
    return { name, dtype: "", type: isNumber ? "number" : "string" };
  });
  const lines = rows.length > 1000 ? text.split("\n").length - 1 : values.length;
  return { columns, head: values.map((one) => names.map((_, index) => one[index] ?? null)), tail: [], shape: [lines, names.length] };
}
