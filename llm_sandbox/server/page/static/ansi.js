// Text of programs: its colours and its carriage returns, without anything else that it asks for.

import { el } from "./dom.js";

const SEQUENCE = /\x1b\[([0-9;:]*)m|\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[@-_]?|[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f]/g;
const LONGEST = 200000;

export class Style {
  constructor() {
    this.reset();
  }

  reset() {
    this.bold = this.dim = this.italic = this.under = this.inverse = this.struck = false;
    this.front = this.back = null;
  }

  get isPlain() {
    return !(this.bold || this.dim || this.italic || this.under || this.inverse || this.struck)
      && this.front === null && this.back === null;
  }

  copy() {
    return Object.assign(new Style(), this);
  }

  // Takes the numbers of "select graphic rendition".
  take(text) {
    const codes = (text || "0").split(/[;:]/).map((part) => Number(part) || 0);
    for (let index = 0; index < codes.length; index += 1) {
      const code = codes[index];
      if (code === 0) this.reset();
      else if (code === 1) this.bold = true;
      else if (code === 2) this.dim = true;
      else if (code === 3) this.italic = true;
      else if (code === 4) this.under = true;
      else if (code === 7) this.inverse = true;
      else if (code === 9) this.struck = true;
      else if (code === 22) this.bold = this.dim = false;
      else if (code === 23) this.italic = false;
      else if (code === 24) this.under = false;
      else if (code === 27) this.inverse = false;
      else if (code === 29) this.struck = false;
      else if (code >= 30 && code <= 37) this.front = code - 30;
      else if (code === 39) this.front = null;
      else if (code >= 40 && code <= 47) this.back = code - 40;
      else if (code === 49) this.back = null;
      else if (code >= 90 && code <= 97) this.front = code - 82;
      else if (code >= 100 && code <= 107) this.back = code - 92;
      else if (code === 38 || code === 48) {
        const name = code === 38 ? "front" : "back";
        if (codes[index + 1] === 5) {
          this[name] = Math.min(255, codes[index + 2] ?? 0);
          index += 2;
        } else if (codes[index + 1] === 2) {
          const [red, green, blue] = codes.slice(index + 2, index + 5).map((part) => Math.min(255, part ?? 0));
          this[name] = `rgb(${red ?? 0} ${green ?? 0} ${blue ?? 0})`;
          index += 4;
        }
      }
    }
  }

  // An element with text in this style.
  span(text) {
    const names = ["bold", "dim", "italic", "under", "struck"].filter((name) => this[name]).map((name) => `a-${name}`);
    const [front, back] = this.inverse ? [this.back ?? "page", this.front ?? "text"] : [this.front, this.back];
    const element = el("span", {}, text);
    for (const [value, prefix, property] of [[front, "f", "color"], [back, "b", "backgroundColor"]]) {
      if (value === null) continue;
      if (value === "page" || value === "text" || value < 16) names.push(`a-${prefix}-${value}`);
      else element.style[property] = typeof value === "string" ? value : cube(value);
    }
    element.className = names.join(" ");
    return element;
  }
}

function cube(number) {
  if (number >= 232) {
    const grey = 8 + (number - 232) * 10;
    return `rgb(${grey} ${grey} ${grey})`;
  }
  const level = (part) => (part ? 55 + part * 40 : 0);
  const rest = number - 16;
  return `rgb(${level(Math.floor(rest / 36))} ${level(Math.floor(rest / 6) % 6)} ${level(rest % 6)})`;
}

// A block that text is added to as it comes; of very long text the end is kept.
export class TextBlock {
  constructor(kind) {
    this.kind = kind;
    this.element = el("pre", { class: kind });
    this.style = new Style();
    this.line = [];
    this.length = 0;
    this.rest = "";
    this.returned = false;
  }

  add(given) {
    let text = this.rest + given;
    // A sequence may be cut at the end of a piece.
    const cut = text.slice(-64).lastIndexOf("\x1b");
    this.rest = "";
    if (cut >= 0) {
      const place = Math.max(0, text.length - 64) + cut;
      if (!/\x1b(?:\[[0-?]*[ -/]*[@-~]|[@-Z\\-_])/.test(text.slice(place))) {
        this.rest = text.slice(place);
        text = text.slice(0, place);
      }
    }
    let place = 0;
    for (const found of text.matchAll(SEQUENCE)) {
      this.plain(text.slice(place, found.index));
      if (found[1] !== undefined) this.style.take(found[1]);
      place = found.index + found[0].length;
    }
    this.plain(text.slice(place));
    this.trim();
  }

  plain(text) {
    for (const part of text.split(/(\r\n|\n|\r)/)) {
      if (part === "") continue;
      if (part === "\r") this.returned = true;
      else if (part === "\n" || part === "\r\n") {
        this.put("\n");
        this.line = [];
        this.returned = false;
      } else {
        // What follows a carriage return replaces the line, as in a progress bar.
        if (this.returned) {
          for (const node of this.line) node.remove();
          this.line = [];
          this.returned = false;
        }
        this.put(part);
      }
    }
  }

  put(text) {
    const node = this.style.isPlain ? document.createTextNode(text) : this.style.span(text);
    this.element.append(node);
    this.line.push(node);
    this.length += text.length;
  }

  trim() {
    while (this.length > LONGEST && this.element.childNodes.length > 1) {
      const first = this.element.firstChild;
      this.length -= first.textContent.length;
      first.remove();
      this.element.classList.add("cut");
    }
  }
}
