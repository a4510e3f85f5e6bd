// Terminal of a sandbox: a shell over a websocket, shown by a screen.

import { socket } from "./api.js";
import { button, el, fill } from "./dom.js";
import { Screen } from "./screen.js";

const KEYS = {
  Enter: "\r", Tab: "\t", Backspace: "\x7f", Escape: "\x1b", Delete: "\x1b[3~", Insert: "\x1b[2~",
  PageUp: "\x1b[5~", PageDown: "\x1b[6~", F1: "\x1bOP", F2: "\x1bOQ", F3: "\x1bOR", F4: "\x1bOS",
  F5: "\x1b[15~", F6: "\x1b[17~", F7: "\x1b[18~", F8: "\x1b[19~", F9: "\x1b[20~", F10: "\x1b[21~",
};
const ARROWS = { ArrowUp: "A", ArrowDown: "B", ArrowRight: "C", ArrowLeft: "D", Home: "H", End: "F" };

export function terminalView(sandbox, signal) {
  const kept = el("div", { class: "kept" });
  const lines = el("div", { class: "screen" });
  const input = el("textarea", { class: "keys", "aria-label": "Terminal", autocapitalize: "off", autocomplete: "off", spellcheck: false, rows: 1 });
  const place = el("div", { class: "terminal" }, kept, lines, input);
  const status = el("p", { class: "quiet" }, "Connecting …");
  const view = el("section", { class: "terminal-view" }, place, status);
  const probe = el("span", { class: "probe" }, "0".repeat(10));
  place.append(probe);

  let connection = null;
  let drawn = 0;
  const screen = new Screen(80, 24, (text) => send(text));
  const encoder = new TextEncoder();

  function send(text) {
    if (connection?.readyState === WebSocket.OPEN) connection.send(encoder.encode(text));
  }

  function measure() {
    const box = probe.getBoundingClientRect();
    const style = getComputedStyle(place);
    const inside = (whole, ...sides) => whole - sides.reduce((sum, side) => sum + parseFloat(style[side]), 0);
    const width = inside(place.clientWidth, "paddingLeft", "paddingRight");
    const height = inside(place.clientHeight, "paddingTop", "paddingBottom");
    if (!box.width || width <= 0) return [80, 24];
    return [Math.max(20, Math.min(400, Math.floor(width / (box.width / 10)))), Math.max(5, Math.min(200, Math.floor(height / box.height)))];
  }

  function draw() {
    drawn = 0;
    const atEnd = place.scrollHeight - place.scrollTop - place.clientHeight < 40;
    if (screen.kept.length < kept.childElementCount) fill(kept);
    if (screen.kept.length > kept.childElementCount || kept.firstLine !== screen.kept[0]) {
      if (kept.firstLine !== screen.kept[0]) fill(kept);
      kept.firstLine = screen.kept[0];
      for (const line of screen.kept.slice(kept.childElementCount)) kept.append(Screen.draw(line));
    }
    while (lines.childElementCount < screen.rows) lines.append(el("div"));
    while (lines.childElementCount > screen.rows) lines.lastChild.remove();
    for (const row of screen.changed) {
      if (row >= screen.rows) continue;
      const isHere = row === screen.y && !screen.isHidden;
      lines.children[row].replaceWith(Screen.draw(screen.lines[row], isHere ? screen.x : null));
    }
    screen.changed.clear();
    if (atEnd) place.scrollTop = place.scrollHeight;
  }

  function later() {
    if (!drawn) drawn = requestAnimationFrame(draw);
  }

  function fit() {
    const [columns, rows] = measure();
    if (columns === screen.columns && rows === screen.rows) return;
    screen.resize(columns, rows);
    if (connection?.readyState === WebSocket.OPEN) connection.send(JSON.stringify({ type: "resize", rows, cols: columns }));
    later();
  }

  function connect() {
    const [columns, rows] = measure();
    screen.reset();
    screen.resize(columns, rows);
    connection = socket(`/v1/sandboxes/${sandbox.id}/terminal`);
    connection.addEventListener("open", () => {
      connection.send(JSON.stringify({ terminal: { rows: screen.rows, cols: screen.columns } }));
      fill(status, "Connected: ", el("kbd", {}, "Ctrl"), "+", el("kbd", {}, "Shift"), "+", el("kbd", {}, "Esc"), " leaves the terminal");
      input.focus();
    });
    connection.addEventListener("message", (event) => {
      if (typeof event.data === "string") {
        const told = JSON.parse(event.data);
        if (told.type === "exit") ended(`The shell has ended with exit code ${told.exit_code}.`);
        else if (told.type === "error") ended(told.error.message);
        return;
      }
      // The first byte names the stream.
      screen.write(new Uint8Array(event.data, 1));
      later();
    });
    connection.addEventListener("close", (event) => {
      if (!status.classList.contains("ended")) ended(event.reason || "The connection has ended.");
    });
    status.classList.remove("ended");
    later();
  }

  function ended(words) {
    status.classList.add("ended");
    fill(status, words, " ", button("Start another", connect));
  }

  place.addEventListener("mouseup", () => {
    if (String(getSelection()) === "") input.focus({ preventScroll: true });
  });
  input.addEventListener("keydown", (event) => {
    if (event.ctrlKey && event.shiftKey) {
      if (event.key === "Escape") {
        input.blur();
        event.preventDefault();
      }
      return;
    }
    if (event.metaKey || event.isComposing) return;
    let text = null;
    if (event.key in ARROWS) text = `\x1b${screen.keypad ? "O" : "["}${ARROWS[event.key]}`;
    else if (event.key === "Tab" && event.shiftKey) text = "\x1b[Z";
    else if (event.key in KEYS) text = KEYS[event.key];
    else if (event.ctrlKey && event.key.length === 1) {
      const code = event.key.toUpperCase().charCodeAt(0);
      if (event.key === " ") text = "\x00";
      else if (code >= 64 && code < 96) text = String.fromCharCode(code - 64);
    } else if (event.altKey && event.key.length === 1) text = `\x1b${event.key}`;
    if (text === null) return;
    event.preventDefault();
    send(text);
  });
  input.addEventListener("input", () => {
    if (input.value) send(input.value);
    input.value = "";
  });
  input.addEventListener("paste", (event) => {
    event.preventDefault();
    const text = event.clipboardData.getData("text").replace(/\r?\n/g, "\r").replaceAll("\x1b", "");
    send(screen.bracketed ? `\x1b[200~${text}\x1b[201~` : text);
  });
  input.addEventListener("focus", () => place.classList.add("focused"));
  input.addEventListener("blur", () => place.classList.remove("focused"));
  const observer = new ResizeObserver(fit);
  observer.observe(place);
  signal.addEventListener("abort", () => {
    observer.disconnect();
    connection?.close();
  });
  requestAnimationFrame(connect);
  return view;
}
