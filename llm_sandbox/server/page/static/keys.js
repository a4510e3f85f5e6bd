// API keys, for keys with the scope `admin`.

import { get, post, request } from "./api.js";
import { act, button, confirmed, copy, dialog, el, fill, moment, notice } from "./dom.js";

const SCOPES = { view: "Look at sandboxes, runs, files and evaluations", run: "Run code, and everything with sandboxes", metrics: "Read the server's metrics", admin: "Make and revoke keys" };

export function keysView() {
  const view = el("section", { class: "keys-view" });
  const load = async () => {
    let keys;
    try {
      keys = await get("/v1/keys");
    } catch (error) {
      if (error.status !== 401 && error.status !== 403 && error.code !== "unsupported") throw error;
      return fill(view, el("div", { class: "welcome" }, el("h2", {}, "No keys to show"), el("p", {}, error.message), error.hint ? el("p", { class: "quiet" }, error.hint) : null));
    }
    return fill(view,
      el("header", { class: "title" }, el("h1", {}, "API keys"), el("span", { class: "grow" }), button("Make a key", () => make(load), { name: "plus", kind: "primary" })),
      el("div", { class: "scroll wide" }, el("table", { class: "grid" },
        el("thead", {}, el("tr", {}, ["Name", "Tenant", "Scopes", "Made", "Expires", ""].map((name) => el("th", { scope: "col" }, name)))),
        el("tbody", {}, keys.map((key) => el("tr", {},
          el("th", { scope: "row" }, key.name), el("td", {}, key.tenant), el("td", {}, key.scopes.map((scope) => el("span", { class: "chip" }, scope))),
          el("td", { class: "quiet" }, moment(key.created_at)),
          el("td", { class: "quiet" }, key.expires_at === null ? "never" : moment(key.expires_at)),
          el("td", {}, button("Revoke", async () => {
            if (!(await confirmed(`Revoke ${key.name}?`, "Revoke"))) return;
            await request("DELETE", `/v1/keys/${encodeURIComponent(key.name)}`);
            await load();
          }, { name: "trash", kind: "plain", small: true })),
        ))),
      )),
    );
  };
  load().catch(notice);
  return view;
}

function make(load) {
  const name = el("input", { type: "text", required: true, maxLength: 64 });
  const tenant = el("input", { type: "text", maxLength: 64, placeholder: "the name" });
  const days = el("input", { type: "number", min: 1, placeholder: "never" });
  const scopes = Object.entries(SCOPES).map(([scope, words]) => el("label", { class: "check" }, el("input", { type: "checkbox", value: scope, checked: scope === "run" }), el("span", {}, el("b", {}, scope), ` ${words}`)));
  const close = dialog("Make a key", el("div", { class: "form" },
    el("label", {}, "Name", name), el("label", {}, "Tenant", tenant), el("label", {}, "Days until it expires", days), el("fieldset", {}, el("legend", {}, "Scopes"), scopes),
  ), [button("Make", async () => {
    const chosen = scopes.map((label) => label.querySelector("input")).filter((box) => box.checked).map((box) => box.value);
    const made = await post("/v1/keys", { name: name.value, tenant: tenant.value || null, scopes: chosen, ttl_s: days.value ? Number(days.value) * 86400 : null });
    close();
    dialog("The key is shown this once", el("pre", { class: "code snippet" }, made.token ?? made.key), [button("Copy", () => copy(made.token ?? made.key), { name: "copy", kind: "primary" })]);
    await load();
  }, { kind: "primary" })]);
}

// Asks for a key until one is good.
export function askForKey(store, again, words) {
  const input = el("input", { type: "password", autocomplete: "off", required: true, "aria-label": "API key" });
  const enter = el("button", { class: "primary" }, "Continue");
  const form = el("form", { class: "gate card", onsubmit: (event) => {
    event.preventDefault();
    act(enter, async () => {
      store.set(input.value.trim());
      await again();
    });
  } },
  el("h1", {}, "This server asks for a key"),
  el("p", { class: "quiet" }, words),
  input,
  enter,
  el("p", { class: "quiet" }, "Made with ", el("code", {}, "llm-sandbox key create NAME --keys FILE"), ". It is kept until this tab is closed."));
  return form;
}
