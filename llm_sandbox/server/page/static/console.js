// Console of a session: cells of code, what each has printed, drawn and changed.

import { follow, get, post, request } from "./api.js";
import { act, button, count, el, fill, icon, notice, save } from "./dom.js";
import { highlighted } from "./highlight.js";
import { Outputs, statusOf } from "./outputs.js";
import { actions, snippetButton } from "./snippets.js";

const SHOWN_RUNS = 30;

// A text area that grows with its text, over the same text in colours.
export class Editor {
  constructor(language, { onRun, onUp, onDown, label }) {
    this.language = language;
    this.colours = el("pre", { class: "colours", "aria-hidden": "true" });
    this.input = el("textarea", {
      spellcheck: false, autocapitalize: "off", autocomplete: "off", rows: 1, "aria-label": label,
      placeholder: `${language[0].toUpperCase()}${language.slice(1)} code`,
      oninput: () => this.refresh(),
      onkeydown: (event) => this.onKey(event, { onRun, onUp, onDown }),
    });
    this.element = el("div", { class: "editor" }, this.colours, this.input);
    this.refresh();
  }

  get text() {
    return this.input.value;
  }

  set text(value) {
    this.input.value = value;
    this.refresh();
  }

  refresh() {
    fill(this.colours).append(highlighted(this.input.value, this.language), "\n");
  }

  onKey(event, { onRun, onUp, onDown }) {
    const { input } = this;
    if (event.isComposing) return;
    if (event.key === "Enter" && (event.shiftKey || event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      onRun();
    } else if (event.key === "Enter") {
      const before = input.value.slice(0, input.selectionStart);
      const line = before.slice(before.lastIndexOf("\n") + 1);
      const indent = /^\s*/.exec(line)[0] + (/[:{(\[]\s*$/.test(line) ? "    " : "");
      event.preventDefault();
      this.insert(`\n${indent}`);
    } else if (event.key === "Tab" && !event.shiftKey && !event.ctrlKey && input.value !== "") {
      event.preventDefault();
      this.insert("    ");
    } else if (event.key === "Escape") input.blur();
    else if (event.key === "ArrowUp" && !input.value.slice(0, input.selectionStart).includes("\n")) {
      if (onUp()) event.preventDefault();
    } else if (event.key === "ArrowDown" && !input.value.slice(input.selectionEnd).includes("\n")) {
      if (onDown()) event.preventDefault();
    }
  }

  insert(text) {
    // The browser's own command keeps what undo knows.
    if (!document.execCommand("insertText", false, text)) this.input.setRangeText(text, this.input.selectionStart, this.input.selectionEnd, "end");
    this.refresh();
  }
}

class Cell {
  constructor(view, code) {
    this.view = view;
    this.code = code;
    this.label = el("span", { class: "number" }, "…");
    this.status = el("span", { class: "status running" }, "running");
    this.outputs = new Outputs(view.root);
    this.question = null;
    this.element = el("article", { class: "cell" },
      el("header", {},
        this.label,
        this.status,
        el("span", { class: "grow" }),
        snippetButton(() => actions.run(view.sandbox, code)),
        button("Edit again", () => view.edit(code), { name: "restart", kind: "acts plain", small: true }),
      ),
      el("pre", { class: "code" }, highlighted(code.trimEnd(), view.sandbox.language)),
      this.outputs.element,
    );
  }

  begin(number) {
    this.label.textContent = number;
    this.element.id = `run-${number}`;
  }

  take(event) {
    if (event.id) this.begin(event.id.split("-")[0]);
    if (event.name === "output") this.outputs.add(event.data);
    else if (event.name === "input") this.ask();
    else if (event.name === "gap") this.outputs.addText("stderr", `[${count(event.data.events, "earlier output")} no longer there]\n`);
    else if (event.name === "result") this.end(event.data);
    else if (event.name === "error") this.fail(event.data);
  }

  ask() {
    this.question?.remove();
    const answer = el("input", { type: "text", "aria-label": "Answer", autocomplete: "off" });
    const send = (text) => act(answer, async () => {
      await post(`${this.view.root}/input`, { text });
      this.outputs.addText("stdout", text === null ? "" : `${text}\n`);
      this.question?.remove();
    });
    this.question = el("form", { class: "question", onsubmit: (event) => {
      event.preventDefault();
      send(answer.value);
    } }, el("span", {}, "The code waits for input"), answer, el("button", { class: "primary" }, "Send"), button("End of input", () => send(null), { kind: "plain" }));
    this.outputs.element.append(this.question);
    this.status.textContent = "waits for input";
    answer.focus();
  }

  end(result) {
    this.question?.remove();
    const [kind, words] = statusOf(result);
    this.status.className = `status ${kind}`;
    this.status.textContent = words;
    this.outputs.finish(result);
  }

  // What a finished run has printed and shown, as if it came now.
  replay(number, result) {
    this.begin(number);
    for (const output of result.outputs) this.outputs.add(output);
    this.end(result);
  }

  fail(error) {
    this.question?.remove();
    this.status.className = "status bad";
    this.status.textContent = error.code ?? "failed";
    this.outputs.element.append(el("p", { class: "failure" }, error.message ?? error.detail ?? "The run has failed.", error.hint ? el("span", { class: "hint" }, error.hint) : null));
    for (const finding of error.findings ?? error.facts?.findings ?? []) this.outputs.element.append(el("div", { class: "finding" }, el("b", {}, finding.rule_id), el("span", {}, finding.message)));
  }
}

export class ConsoleView {
  constructor(sandbox, signal, { onRun }) {
    this.sandbox = sandbox;
    this.root = `/v1/sessions/${sandbox.id}`;
    this.signal = signal;
    this.onRun = onRun;
    this.past = [];
    this.place = 0;
    this.draft = "";
    this.cells = el("div", { class: "cells" });
    this.editor = new Editor(sandbox.language, {
      label: "Code to run", onRun: () => this.run(), onUp: () => this.step(-1), onDown: () => this.step(1),
    });
    this.runButton = button("Run", () => this.run(), { name: "play", kind: "primary", title: "Run (Shift+Enter)" });
    this.stopButton = button("Interrupt", () => post(`${this.root}/interrupt`), { name: "stop", title: "Interrupt (Ctrl+C outside of text)" });
    this.element = el("section", { class: "console" },
      this.cells,
      el("div", { class: "prompt acts" },
        this.editor.element,
        el("div", { class: "actions" },
          this.runButton, this.stopButton, el("span", { class: "grow" }),
          snippetButton(() => actions.run(sandbox, this.editor.text || "print(1)")),
          button("Notebook", async () => save(await (await request("GET", `${this.root}/notebook`)).blob(), `${sandbox.id}.ipynb`), { name: "download", kind: "plain", title: "The session as a Jupyter notebook" }),
          button("Report", async () => save(await (await request("GET", `${this.root}/report`)).blob(), `${sandbox.id}.html`), { name: "download", kind: "plain", title: "The session as one HTML file" }),
          button("Restart", () => this.restart(), { name: "restart", kind: "plain", title: "A fresh interpreter; files stay" }),
        ),
      ),
    );
    this.load().catch(notice);
  }

  async load() {
    const runs = await get(`${this.root}/runs`, { signal: this.signal });
    this.past = runs.map((run) => run.code);
    this.place = this.past.length;
    const shown = runs.slice(-SHOWN_RUNS);
    if (shown.length < runs.length) this.cells.append(el("p", { class: "quiet" }, `${count(runs.length - shown.length, "earlier run")}: see Runs`));
    if (!runs.length) this.cells.append(this.welcome());
    for (const run of shown) {
      const cell = this.append(run.code);
      cell.begin(run.number);
      if (run.state === "running") this.follow(cell, (headers = {}) => request("GET", `${this.root}/runs/${run.number}/events`, { headers, signal: this.signal }), run.number);
      else if (run.state === "failed") cell.fail(run.error ?? {});
      else {
        const result = await get(`${this.root}/runs/${run.number}/result`, { signal: this.signal });
        cell.replay(run.number, result);
      }
    }
    this.element.scrollIntoView({ block: "end" });
    this.editor.input.focus({ preventScroll: true });
  }

  welcome() {
    const examples = EXAMPLES[this.sandbox.language] ?? [];
    return el("div", { class: "welcome" },
      el("h2", {}, "Nothing has run here yet"),
      el("p", {}, "Code keeps its variables from one cell to the next. Figures, tables and files appear below the cell that made them."),
      examples.length ? el("div", { class: "examples" }, examples.map(([name, code]) => button(name, () => this.edit(code)))) : null,
    );
  }

  append(code) {
    this.cells.querySelector(".welcome")?.remove();
    const cell = new Cell(this, code);
    this.cells.append(cell.element);
    return cell;
  }

  edit(code) {
    this.editor.text = code;
    this.editor.input.focus();
  }

  step(by) {
    if (!this.past.length) return false;
    if (this.place === this.past.length) this.draft = this.editor.text;
    const next = this.place + by;
    if (next < 0 || next > this.past.length) return false;
    this.place = next;
    this.editor.text = next === this.past.length ? this.draft : this.past[next];
    return true;
  }

  async run() {
    const code = this.editor.text;
    if (!code.trim()) return;
    this.past.push(code);
    this.place = this.past.length;
    this.draft = "";
    this.editor.text = "";
    const cell = this.append(code);
    cell.element.scrollIntoView({ block: "nearest" });
    let number = null;
    const first = () => request("POST", `${this.root}/run`, {
      json: { code, interactive: true }, headers: { Accept: "text/event-stream", "Idempotency-Key": crypto.randomUUID() }, signal: this.signal,
    });
    const again = (headers) => (number === null
      ? first()
      : request("GET", `${this.root}/runs/${number}/events`, { headers, signal: this.signal }));
    this.onRun();
    try {
      await follow(first, again, (event) => {
        if (event.id) number = Number(event.id.split("-")[0]);
        this.show(cell, event);
      }, this.signal);
    } catch (error) {
      if (error.name !== "AbortError") cell.fail({ code: error.code, message: error.message, hint: error.hint });
    }
    this.onRun();
  }

  async follow(cell, open, number) {
    try {
      await follow(() => open(), open, (event) => this.show(cell, event), this.signal);
    } catch (error) {
      if (error.name !== "AbortError") notice(error);
    }
    this.onRun(number);
  }

  show(cell, event) {
    const page = document.documentElement;
    const atEnd = page.scrollHeight - page.scrollTop - page.clientHeight < 120;
    cell.take(event);
    if (atEnd) page.scrollTop = page.scrollHeight;
  }

  async restart() {
    await post(`${this.root}/restart`);
    this.cells.append(el("p", { class: "divider" }, icon("restart"), "A fresh interpreter"));
  }
}

const EXAMPLES = {
  python: [
    ["A figure", "import numpy as np\nimport matplotlib.pyplot as plt\n\nx = np.linspace(0, 4 * np.pi, 400)\nplt.plot(x, np.sin(x), label=\"sin\")\nplt.plot(x, np.cos(x), label=\"cos\")\nplt.legend()\nplt.show()"],
    ["A table", "import pandas as pd\n\npd.DataFrame({\"city\": [\"Oslo\", \"Lima\", \"Pune\"], \"people\": [709_037, 10_092_000, 3_124_458]})"],
    ["Live output", "import time\n\nfor step in range(5):\n    print(\"step\", step, flush=True)\n    time.sleep(0.5)"],
    ["A question", "name = input(\"Your name: \")\nprint(\"Hello,\", name)"],
  ],
  r: [["A figure", "hist(rnorm(500), col = \"steelblue\", main = \"500 draws\")"]],
  javascript: [["A value", "[1, 2, 3].map((n) => n ** 2)"]],
};
