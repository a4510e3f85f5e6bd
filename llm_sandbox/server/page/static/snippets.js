// What an action of this page is in other programs: curl, this library, E2B's package.

import { copy, button, dialog, el } from "./dom.js";
import { key } from "./api.js";

const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;
const python = (text) => (text.includes("\n") && !text.includes('"""') && !text.includes("\\") ? `"""\n${text}\n"""` : JSON.stringify(text));

function curl(method, path, json) {
  const lines = [`curl -X ${method} ${location.origin}${path}`];
  if (key.get()) lines.push(`  -H "X-API-Key: $LLM_SANDBOX_KEY"`);
  if (json !== undefined) lines.push("  -H 'Content-Type: application/json'", `  -d ${quoted(JSON.stringify(json))}`);
  return lines.join(" \\\n");
}

function session(options, line) {
  const token = key.get() ? ', token=os.environ["LLM_SANDBOX_KEY"]' : "";
  const given = Object.entries(options).map(([name, value]) => `, ${name}=${JSON.stringify(value)}`).join("");
  const imports = key.get() ? "import os\n\n" : "";
  return `${imports}from llm_sandbox import create_session\n\nwith create_session(server="${location.origin}"${token}${given}) as session:\n    ${line}`;
}

function e2b(line) {
  const named = key.get() ? 'os.environ["LLM_SANDBOX_KEY"]' : '"e2b_" + "0" * 40';
  return `import os\n\nos.environ["E2B_API_URL"] = os.environ["E2B_SANDBOX_URL"] = "${location.origin}"\nos.environ["E2B_API_KEY"] = ${named}\n\nfrom e2b_code_interpreter import Sandbox\n\n${line}`;
}

// Each action: its request, and the lines that do the same elsewhere.
export const actions = {
  create: (options) => ({
    curl: curl("POST", "/v1/sessions", options),
    Python: session(options, 'print(session.run("1 + 1").value)'),
    E2B: e2b("sandbox = Sandbox.create()"),
  }),
  run: (sandbox, code) => ({
    curl: curl("POST", `/v1/sessions/${sandbox.id}/run`, { code }),
    Python: session(sandbox.language === "python" ? {} : { lang: sandbox.language }, `result = session.run(${python(code)})\n    print(result.stdout)`),
    E2B: e2b(`sandbox = Sandbox.create()\nexecution = sandbox.run_code(${python(code)})\nprint(execution.text)`),
  }),
  read: (sandbox, path) => ({
    curl: `${curl("GET", `/v1/sandboxes/${sandbox.id}/files/${path}`)} -O`,
    Python: session({}, `content = session.sandbox.files.read_bytes(${JSON.stringify(path)})`),
    E2B: e2b(`sandbox = Sandbox.connect("${sandbox.id}")\ncontent = sandbox.files.read(${JSON.stringify(path)}, format="bytes")`),
  }),
  write: (sandbox) => ({
    curl: `curl -T data.csv ${location.origin}/v1/sandboxes/${sandbox.id}/files/data.csv${key.get() ? ' -H "X-API-Key: $LLM_SANDBOX_KEY"' : ""}`,
    Python: session({}, 'session.copy_to_runtime("data.csv", "data.csv")'),
    E2B: e2b(`sandbox = Sandbox.connect("${sandbox.id}")\nsandbox.files.write("data.csv", open("data.csv", "rb"))`),
  }),
  stop: (sandbox) => ({
    curl: curl("DELETE", `/v1/sandboxes/${sandbox.id}`),
    E2B: e2b(`Sandbox.kill("${sandbox.id}")`),
  }),
};

export function snippetButton(make) {
  return button("Copy as …", () => show(make()), { name: "copy", kind: "plain", small: true });
}

function show(texts) {
  const names = Object.keys(texts);
  const code = el("pre", { class: "code snippet", tabIndex: 0 }, texts[names[0]]);
  let chosen = names[0];
  const tabs = names.map((name) => el("button", {
    type: "button", role: "tab", "aria-selected": String(name === chosen),
    onclick: () => {
      chosen = name;
      code.textContent = texts[name];
      for (const tab of tabs) tab.setAttribute("aria-selected", String(tab.textContent === name));
    },
  }, name));
  dialog("Copy as", el("div", {}, el("div", { class: "tabs", role: "tablist" }, tabs), code), [
    button("Copy", () => copy(texts[chosen]), { name: "copy", kind: "primary" }),
  ]);
}
