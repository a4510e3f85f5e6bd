// Lines of a log, by named groups, look-behind, sticky search and replacement by a function.
const log = `2024-02-01T10:00:00Z WARN  disk=91% host=alpha
2024-02-01T10:00:05Z ERROR disk=99% host=beta
not a line
2024-02-02T00:10:00Z INFO  disk=12% host=alpha`;

const line = /^(?<day>[\d-]+)T(?<time>[\d:]+)Z (?<level>\w+)\s+(?<rest>.*)$/gm;
for (const { groups } of log.matchAll(line)) {
  const facts = Object.fromEntries([...groups.rest.matchAll(/(\w+)=(\S+)/g)].map(([, key, value]) => [key, value]));
  console.log(groups.day, groups.level.padEnd(5), facts.host, facts.disk.match(/(?<!\d)\d+(?=%)/)[0]);
}
console.log("12345678.9".replace(/\B(?=(\d{3})+(?!\d|$))(?<!\.\d*)/g, "'"));
console.log("snake_case_name".replace(/_(\w)/g, (_, letter) => letter.toUpperCase()));

const token = /\s*(?:(\d+)|(.))/y;
const found = [];
for (let match; (match = token.exec("12 + 3*(4)")) !== null; ) found.push(match[1] ? Number(match[1]) : match[2]);
console.log(found);
console.log("a/b//c".split(/\/+/), /[/]/.test("a/b"), 8 / 2 / 2);
