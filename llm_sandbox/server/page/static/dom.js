// Elements, formats, notices and dialogs. Text is only ever set as text.

const ICONS = {
  play: "M7 5.5v13l11-6.5z",
  stop: "M7 7h10v10H7z",
  plus: "M12 5v14M5 12h14",
  copy: "M9 9h10v10H9zM5 15V5h10",
  download: "M12 4v11m-4.5-4L12 15.5 16.5 11M5 19.5h14",
  upload: "M12 15.5V4.5m-4.5 4L12 4l4.5 4.5M5 19.5h14",
  trash: "M5 7h14M10 7V4.5h4V7m-7 0 .8 12.5h8.4L17 7",
  close: "M6 6l12 12M18 6 6 18",
  menu: "M4 7h16M4 12h16M4 17h16",
  file: "M7 3.5h7l4 4v13H7zM14 3.5v4h4",
  folder: "M3.5 6h6l2 2.5h9V19h-17z",
  right: "M10 7l5 5-5 5",
  clock: "M12 7.5V12l3 2M12 3.5a8.5 8.5 0 100 17 8.5 8.5 0 000-17",
  restart: "M5 12a7 7 0 112.2 5.1M5 18.5V13h5.5",
  more: "M6 12h.01M12 12h.01M18 12h.01",
};

export function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else if (name === "data") Object.assign(element.dataset, value);
    else if (name in element && !name.startsWith("aria")) element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", name === "play" || name === "stop" ? "icon solid" : "icon");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

export function button(label, action, { name = null, kind = "", title = null, small = false } = {}) {
  const words = name && small ? [] : [label];
  return el(
    "button",
    {
      type: "button",
      class: `${kind} ${small ? "small" : ""}`.trim(),
      title: title ?? (small ? label : null),
      "aria-label": small ? label : null,
      onclick: (event) => act(event.currentTarget, action),
    },
    name && icon(name),
    ...words,
  );
}

// An action may take a while: its button waits with it, and what goes wrong is told.
export async function act(control, action) {
  if (control.disabled) return;
  control.disabled = true;
  try {
    await action();
  } catch (error) {
    notice(error);
  } finally {
    control.disabled = false;
  }
}

export function fill(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter(Boolean));
  return element;
}

// --- formats

export function size(bytes) {
  if (bytes === null || bytes === undefined) return "";
  if (bytes < 1000) return `${bytes} B`;
  const units = ["kB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = -1;
  do {
    value /= 1000;
    unit += 1;
  } while (value >= 999.5 && unit < units.length - 1);
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

export function duration(seconds) {
  if (seconds === null || seconds === undefined) return "";
  if (seconds < 0.9995) return `${Math.max(0, Math.round(seconds * 1000))} ms`;
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  if (whole < 86400) return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
  return `${Math.floor(whole / 86400)} d ${Math.floor((whole % 86400) / 3600)} h`;
}

export function moment(seconds) {
  const date = new Date(seconds * 1000);
  const today = new Date().toDateString() === date.toDateString();
  return date.toLocaleString([], today ? { timeStyle: "medium" } : { dateStyle: "medium", timeStyle: "short" });
}

export function count(number, word) {
  return `${number.toLocaleString()} ${word}${number === 1 ? "" : "s"}`;
}

// --- notices and dialogs

export function notice(error, kind = "bad") {
  const isError = error instanceof Error;
  const words = isError ? error.message : String(error);
  const box = el(
    "div",
    { class: `notice ${isError ? "bad" : kind}` },
    el("p", {}, words, isError && error.hint ? el("span", { class: "hint" }, error.hint) : null),
    button("Close", () => box.remove(), { name: "close", kind: "plain", small: true }),
  );
  // Above what is open, dialogs included.
  const place = document.getElementById("notices");
  place.append(box);
  place.hidePopover();
  place.showPopover();
  if (!isError && kind === "good") setTimeout(() => box.remove(), 4000);
  return box;
}

export function dialog(title, content, actions = []) {
  const box = el("dialog", { "aria-label": title });
  const close = () => box.close();
  box.append(
    el("form", { method: "dialog", onsubmit: (event) => event.preventDefault() },
      el("header", {}, el("h2", {}, title), button("Close", close, { name: "close", kind: "plain", small: true })),
      content,
      actions.length ? el("footer", {}, actions) : "",
    ),
  );
  box.addEventListener("close", () => box.remove());
  document.body.append(box);
  box.showModal();
  return close;
}

export function confirmed(question, verb) {
  return new Promise((resolve) => {
    let close;
    const answer = (value) => () => {
      resolve(value);
      close();
    };
    close = dialog(question, "", [
      button("Cancel", answer(false)),
      button(verb, answer(true), { kind: "danger" }),
    ]);
    document.querySelector("dialog:last-of-type").addEventListener("close", () => resolve(false));
  });
}

export async function copy(text) {
  await navigator.clipboard.writeText(text);
  notice("Copied", "good");
}

export function save(blob, name) {
  const url = URL.createObjectURL(blob);
  el("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
}

export function bytesOf(base64) {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}
