// The server's API below /v1: requests, errors, event streams.

const KEY = "llm-sandbox-key";

export class ApiError extends Error {
  constructor(status, problem) {
    super(problem.detail ?? `The server has answered ${status}`);
    this.status = status;
    this.code = problem.code;
    this.hint = problem.hint;
  }
}

export const key = {
  get: () => sessionStorage.getItem(KEY),
  set: (value) => sessionStorage.setItem(KEY, value),
  clear: () => sessionStorage.removeItem(KEY),
};

export async function request(method, path, { json, body, headers = {}, signal } = {}) {
  const given = { ...headers };
  if (key.get()) given["X-API-Key"] = key.get();
  if (json !== undefined) given["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(path, {
      method,
      headers: given,
      body: json === undefined ? body : JSON.stringify(json),
      signal,
      cache: "no-store",
      credentials: "omit",
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, { detail: "The server cannot be reached", hint: "Is it still running?" });
  }
  if (!response.ok) {
    const problem = await response.json().catch(() => ({}));
    throw new ApiError(response.status, problem);
  }
  return response;
}

export async function get(path, options) {
  return (await request("GET", path, options)).json();
}

export async function post(path, json = undefined, options = {}) {
  const response = await request("POST", path, { ...options, json });
  return response.status === 204 ? null : response.json();
}

export function filePath(root, path) {
  return `${root}/files/${path.split("/").map(encodeURIComponent).join("/")}`;
}

// Follows events to the last one. A connection that breaks is made again where it ended.
export async function follow(first, again, onEvent, signal, ends = ["result", "error"]) {
  let last = null;
  let ended = false;
  let failures = 0;
  const take = (event) => {
    if (event.id) last = event.id;
    failures = 0;
    ended = ends.includes(event.name);
    onEvent(event);
  };
  let open = first;
  while (!ended) {
    try {
      const response = await open();
      await readEvents(response.body, take);
    } catch (error) {
      if (signal?.aborted || (error instanceof ApiError && error.status)) throw error;
    }
    if (ended || signal?.aborted) return;
    failures += 1;
    if (failures > 5) throw new ApiError(0, { detail: "The connection was lost" });
    await new Promise((resolve) => setTimeout(resolve, 250 * 2 ** failures));
    const headers = last === null ? {} : { "Last-Event-ID": last };
    open = () => again(headers);
  }
}

async function readEvents(body, take) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    rest += value;
    const blocks = rest.split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const event = { id: null, name: "message", data: "" };
      for (const line of block.split("\n")) {
        if (line.startsWith("id: ")) event.id = line.slice(4);
        else if (line.startsWith("event: ")) event.name = line.slice(7);
        else if (line.startsWith("data: ")) event.data += line.slice(6);
      }
      if (event.data) take({ ...event, data: JSON.parse(event.data) });
    }
  }
}

// A page cannot set a header of a websocket: the key goes as a subprotocol.
export function socket(path) {
  const url = new URL(path, location.href);
  url.protocol = url.protocol.replace("http", "ws");
  const protocols = ["llm-sandbox.v1"];
  if (key.get()) {
    const text = btoa(String.fromCharCode(...new TextEncoder().encode(key.get())));
    protocols.push(`bearer.${text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`);
  }
  const made = new WebSocket(url, protocols);
  made.binaryType = "arraybuffer";
  return made;
}
