// Other programs: output, input, exit codes and signals of theirs.
const { execFileSync, spawn, spawnSync } = require("node:child_process");

console.log(execFileSync("printf", ["%s-%s", "a", "b"]).toString());
console.log(execFileSync("sort", ["-r"], { input: "one\ntwo\nthree\n" }).toString().trim().split("\n"));
console.log(spawnSync("sh", ["-c", "echo out; echo err >&2; exit 3"], { encoding: "utf8" }).status);

const cat = spawn("cat");
cat.stdin.end("through a pipe");
let heard = "";
for await (const chunk of cat.stdout) heard += chunk;
console.log(heard);

const sleeper = spawn("sleep", ["100"]);
sleeper.on("exit", (code, signal) => console.log("ended by", signal, code));
sleeper.kill();
