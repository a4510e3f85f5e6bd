// Screen of a terminal: cells in rows, changed by the bytes of a program (VT100, xterm's colours).

import { Style } from "./ansi.js";
import { el } from "./dom.js";

const MOST_KEPT = 2000;
const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const MARK = /\p{Mn}|\p{Me}|\u200d|\ufe0f/u;
const LINES = "`afgjklmnopqrstuvwxyz{|}~";
const DRAWN = "◆▒°±┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·";

export class Screen {
  constructor(columns, rows, answer) {
    this.columns = columns;
    this.rows = rows;
    this.answer = answer;
    this.decoder = new TextDecoder();
    this.kept = [];
    this.reset();
  }

  reset() {
    this.style = new Style();
    this.x = this.y = 0;
    this.isFull = false;
    this.top = 0;
    this.bottom = this.rows - 1;
    this.lines = Array.from({ length: this.rows }, () => this.blank());
    this.other = null;
    this.saved = null;
    this.rest = "";
    this.wraps = true;
    this.isHidden = false;
    this.keypad = false;
    this.bracketed = false;
    this.isDrawing = false;
    this.title = "";
    this.changed = new Set(this.lines.keys());
  }

  blank() {
    return { cells: [], style: null };
  }

  write(bytes) {
    const text = this.rest + (typeof bytes === "string" ? bytes : this.decoder.decode(bytes, { stream: true }));
    this.rest = "";
    let place = 0;
    while (place < text.length) {
      const code = text.charCodeAt(place);
      if (code === 0x1b) {
        const length = this.escape(text, place);
        if (length === 0) {
          // The sequence is not whole yet; one without an end is dropped.
          this.rest = text.length - place > 4096 ? "" : text.slice(place);
          return;
        }
        place += length;
      } else if (code < 0x20 || code === 0x7f) {
        this.control(code);
        place += 1;
      } else {
        const character = String.fromCodePoint(text.codePointAt(place));
        this.put(character);
        place += character.length;
      }
    }
  }

  control(code) {
    if (code === 8) this.move(this.x - 1, this.y);
    else if (code === 9) this.move(Math.min(this.columns - 1, (Math.floor(this.x / 8) + 1) * 8), this.y);
    else if (code === 10 || code === 11 || code === 12) this.feed();
    else if (code === 13) this.move(0, this.y);
  }

  put(character) {
    const line = this.lines[this.y];
    if (MARK.test(character)) {
      const before = line.cells[Math.max(0, this.x - 1)];
      if (before && before.text.length < 16) before.text += character;
      return;
    }
    const width = WIDE.test(character) ? 2 : 1;
    if (this.isFull || this.x + width > this.columns) {
      if (!this.wraps) this.x = this.columns - width;
      else {
        this.x = 0;
        this.feed();
      }
      this.isFull = false;
    }
    const at = this.lines[this.y];
    while (at.cells.length < this.x) at.cells.push({ text: " ", style: new Style() });
    const drawn = this.isDrawing && LINES.includes(character) ? DRAWN[LINES.indexOf(character)] : character;
    at.cells[this.x] = { text: drawn, style: this.style.copy() };
    if (width === 2) at.cells[this.x + 1] = { text: "", style: this.style.copy() };
    this.changed.add(this.y);
    this.x += width;
    if (this.x >= this.columns) {
      this.x = this.columns - 1;
      this.isFull = true;
    }
  }

  move(x, y) {
    this.isFull = false;
    this.changed.add(this.y);
    this.x = Math.max(0, Math.min(this.columns - 1, x));
    this.y = Math.max(0, Math.min(this.rows - 1, y));
    this.changed.add(this.y);
  }

  feed() {
    this.isFull = false;
    if (this.y === this.bottom) this.scroll(1);
    else this.move(this.x, this.y + 1);
  }

  scroll(number, top = this.top) {
    for (let turn = 0; turn < Math.min(Math.abs(number), this.rows); turn += 1) {
      if (number > 0) {
        const [gone] = this.lines.splice(top, 1);
        this.lines.splice(this.bottom, 0, this.blank());
        if (top === 0 && !this.other) {
          this.kept.push(gone);
          if (this.kept.length > MOST_KEPT) this.kept.shift();
        }
      } else {
        this.lines.splice(this.bottom, 1);
        this.lines.splice(top, 0, this.blank());
      }
    }
    this.all();
  }

  all() {
    for (let row = 0; row < this.rows; row += 1) this.changed.add(row);
  }

  // Returns the length of the sequence; 0 for one that is not whole.
  escape(text, place) {
    const next = text[place + 1];
    if (next === undefined) return 0;
    if (next === "[") {
      const found = /^\x1b\[([?>=<]?)([0-9;:]*)([ -/]*)([@-~])/.exec(text.slice(place, place + 256));
      if (!found) return /^\x1b\[[0-?]*[ -/]*$/.test(text.slice(place)) ? 0 : 2;
      if (found[3] === "") this.sequence(found[1], found[2], found[4]);
      return found[0].length;
    }
    if (next === "]" || next === "P" || next === "_" || next === "^") {
      const end = /\x07|\x1b\\/.exec(text.slice(place + 2));
      if (!end) return 0;
      const words = text.slice(place + 2, place + 2 + end.index);
      if (next === "]" && /^[02];/.test(words)) this.title = words.slice(2, 202);
      return 2 + end.index + end[0].length;
    }
    if (next === "(" || next === ")" || next === "#" || next === " ") {
      if (text[place + 2] === undefined) return 0;
      if (next === "(") this.isDrawing = text[place + 2] === "0";
      return 3;
    }
    if (next === "7") this.save();
    else if (next === "8") this.restore();
    else if (next === "D") this.feed();
    else if (next === "E") {
      this.move(0, this.y);
      this.feed();
    } else if (next === "M") {
      if (this.y === this.top) this.scroll(-1);
      else this.move(this.x, this.y - 1);
    } else if (next === "c") this.reset();
    return 2;
  }

  save() {
    this.saved = { x: this.x, y: this.y, style: this.style.copy() };
  }

  restore() {
    if (!this.saved) return this.move(0, 0);
    this.style = this.saved.style.copy();
    return this.move(this.saved.x, this.saved.y);
  }

  sequence(prefix, text, final) {
    if (prefix === "?" && (final === "h" || final === "l")) {
      for (const mode of text.split(";")) this.mode(Number(mode), final === "h");
      return;
    }
    if (prefix !== "") {
      if (prefix === ">" && final === "c") this.answer("\x1b[>0;0;0c");
      return;
    }
    const numbers = text.split(/[;:]/).map((part) => Math.min(9999, Number(part) || 0));
    const one = numbers[0] || 1;
    const moves = {
      A: () => this.move(this.x, this.y - one),
      B: () => this.move(this.x, this.y + one),
      C: () => this.move(this.x + one, this.y),
      D: () => this.move(this.x - one, this.y),
      E: () => this.move(0, this.y + one),
      F: () => this.move(0, this.y - one),
      G: () => this.move(one - 1, this.y),
      "`": () => this.move(one - 1, this.y),
      d: () => this.move(this.x, one - 1),
      H: () => this.move((numbers[1] || 1) - 1, one - 1),
      f: () => this.move((numbers[1] || 1) - 1, one - 1),
      J: () => this.eraseScreen(numbers[0]),
      K: () => this.eraseLine(numbers[0]),
      L: () => this.shift(-one),
      M: () => this.shift(one),
      P: () => this.cells((cells) => cells.splice(this.x, one)),
      "@": () => this.cells((cells) => cells.splice(this.x, 0, ...this.spaces(Math.min(one, this.columns)))),
      X: () => this.cells((cells) => this.overwrite(cells, this.x, Math.min(this.columns, this.x + one))),
      S: () => this.scroll(one),
      T: () => this.scroll(-one),
      m: () => this.style.take(text),
      s: () => this.save(),
      u: () => this.restore(),
      r: () => this.region(numbers),
      c: () => this.answer("\x1b[?6c"),
      n: () => this.report(numbers[0]),
    };
    moves[final]?.();
  }

  mode(number, isOn) {
    if (number === 1) this.keypad = isOn;
    else if (number === 7) this.wraps = isOn;
    else if (number === 25) {
      this.isHidden = !isOn;
      this.changed.add(this.y);
    } else if (number === 2004) this.bracketed = isOn;
    else if (number === 1049 || number === 1047 || number === 47) this.alternate(isOn);
  }

  // Programs that take the whole screen get one of their own.
  alternate(isOn) {
    if (isOn === (this.other !== null)) return;
    if (isOn) {
      this.save();
      this.other = this.lines;
      this.lines = Array.from({ length: this.rows }, () => this.blank());
    } else {
      this.lines = this.other;
      this.other = null;
      this.fit(this.lines);
      this.restore();
    }
    this.region([]);
    this.all();
  }

  region(numbers) {
    const top = (numbers[0] || 1) - 1;
    const bottom = Math.min(this.rows, numbers[1] || this.rows) - 1;
    if (top < bottom) [this.top, this.bottom] = [top, bottom];
    if (numbers.length) this.move(0, 0);
  }

  report(number) {
    if (number === 5) this.answer("\x1b[0n");
    else if (number === 6) this.answer(`\x1b[${this.y + 1};${this.x + 1}R`);
  }

  cells(change) {
    const { cells } = this.lines[this.y];
    while (cells.length < this.x) cells.push({ text: " ", style: new Style() });
    change(cells);
    cells.length = Math.min(cells.length, this.columns);
    this.isFull = false;
    this.changed.add(this.y);
  }

  spaces(number) {
    return Array.from({ length: number }, () => ({ text: " ", style: this.erased() }));
  }

  erased() {
    const style = new Style();
    style.back = this.style.back;
    return style;
  }

  overwrite(cells, from, to) {
    for (let index = from; index < to; index += 1) cells[index] = { text: " ", style: this.erased() };
  }

  eraseLine(kind) {
    this.cells((cells) => {
      if (kind === 0) {
        cells.length = Math.min(cells.length, this.x);
        if (this.style.back !== null) this.overwrite(cells, this.x, this.columns);
      } else this.overwrite(cells, 0, kind === 1 ? this.x + 1 : this.columns);
    });
  }

  eraseScreen(kind) {
    if (kind === 3) {
      this.kept = [];
      return this.all();
    }
    const [from, to] = kind === 0 ? [this.y + 1, this.rows] : kind === 1 ? [0, this.y] : [0, this.rows];
    for (let row = from; row < to; row += 1) this.lines[row] = this.blank();
    if (kind !== 2) this.eraseLine(kind);
    return this.all();
  }

  shift(number) {
    if (this.y < this.top || this.y > this.bottom) return;
    const { kept } = this;
    this.kept = [];
    this.scroll(number, this.y);
    this.kept = kept;
  }

  resize(columns, rows) {
    [this.columns, this.rows] = [columns, rows];
    this.fit(this.lines);
    if (this.other) this.fit(this.other);
    this.region([]);
    this.move(this.x, this.y);
    this.all();
  }

  fit(lines) {
    while (lines.length > this.rows) {
      if (lines[lines.length - 1].cells.length === 0 && this.y < lines.length - 1) lines.pop();
      else {
        this.kept.push(lines.shift());
        this.y = Math.max(0, this.y - 1);
      }
    }
    while (lines.length < this.rows) lines.push(this.blank());
  }

  // An element for a line; the cursor is one of its cells.
  static draw(line, cursor = null) {
    const element = el("div", { class: "line" });
    const cells = [...line.cells];
    if (cursor !== null) {
      while (cells.length <= cursor) cells.push({ text: " ", style: new Style() });
    }
    let run = null;
    const end = () => {
      if (run) element.append(run.style.isPlain && !run.isCursor ? run.text : run.element());
      run = null;
    };
    cells.forEach((cell, index) => {
      const isCursor = index === cursor;
      const name = JSON.stringify(cell.style) + isCursor;
      if (run?.name !== name) {
        end();
        run = {
          name, style: cell.style, text: "", isCursor,
          element() {
            const span = this.style.span(this.text);
            if (this.isCursor) span.classList.add("cursor");
            return span;
          },
        };
      }
      run.text += cell.text;
    });
    end();
    return element;
  }
}
