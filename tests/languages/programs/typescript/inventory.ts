// Records read from JSON, checked at run time and summed up by group.
import { readFileSync, writeFileSync, unlinkSync } from "node:fs";
import * as path from "node:path";
import { tmpdir } from "node:os";
import type { PathLike } from "node:fs";

interface Item {
  name: string;
  group: "tool" | "food";
  price: number;
  tags?: string[];
}

function isItem(value: any): value is Item {
  return typeof value?.name === "string" && ["tool", "food"].includes(value.group) && Number.isFinite(value.price);
}

const file: PathLike = path.join(tmpdir(), `inventory-${process.pid}.json`);
writeFileSync(file, JSON.stringify([
  { name: "saw", group: "tool", price: 12.5 },
  { name: "pear", group: "food", price: 0.5, tags: ["fruit"] },
  { name: "ghost", group: "none", price: 1 },
  { name: "nut", group: "food", price: 1.25 },
]));
const read: unknown[] = JSON.parse(readFileSync(file, "utf8"));
unlinkSync(file);

const items: Item[] = read.filter(isItem);
const totals = items.reduce<Record<string, number>>((sums, { group, price }) => {
  sums[group] = (sums[group] ?? 0) + price;
  return sums;
}, {});
console.log(`${items.length} of ${read.length}`, totals);
console.log(items.find((item) => item.tags?.includes("fruit"))?.name ?? "none");
