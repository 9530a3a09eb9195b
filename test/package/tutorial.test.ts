// docs/start/tutorial.md, followed from its first line to its last: each file is written, each command is typed.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { root } from "../kit/project.ts";
import { type Reader, startReading, stepsOf } from "./tutorial-world.ts";

const page = readFileSync(join(root, "docs/start/tutorial.md"), "utf8");
const steps = stepsOf(page);
const printed: string[] = [];

/** What the nth command with this text in it printed. */
function printedBy(text: string, nth = 1): string {
  const found = steps.flatMap((step, index) =>
    "command" in step && step.command.includes(text) ? [index] : [],
  );
  return printed[found[nth - 1]!]!;
}

let reader: Reader;

beforeAll(async () => {
  reader = await startReading();
  for (const step of steps) printed.push(await reader.follow(step));
}, 300_000);

afterAll(() => reader?.close(), 30_000);

it("the tutorial's test runs every code block", () => {
  const files = steps.filter((step) => "path" in step).length;

  expect(page.match(/^```\w+$/gm)).toHaveLength(files + page.match(/^```sh$/gm)!.length);
  expect(steps.length - files).toBeGreaterThan(10);
});

it("the careless handler of the tutorial orders twice", () => {
  expect(printedBy("kill.ts careless")).toMatch(/^careless: .*2 items in orders instead of 1/);
});

it("the handler of the tutorial orders once, whatever happens", () => {
  expect(printedBy("kill.ts create-order")).toBe("create-order: one order, whatever happens\n");
});

it("the stack of the tutorial runs on this machine as a whole", () => {
  expect(printedBy("onceonly start")).toContain("POST /orders");
  expect(printedBy("onceonly start")).not.toContain("not run here");
});

it("the second request for an order gets the first answer", () => {
  const [first, second] = [printedBy("order-1"), printedBy("order-1", 2)];

  expect(first).toMatch(/^HTTP\/1.1 201 /);
  expect(second).toMatch(/^idempotent-replayed: true$/im);
  expect(second.split("\r\n\r\n")[1]).toBe(first.split("\r\n\r\n")[1]);
});

it("an order survives a kill by hand", () => {
  expect(printedBy("x-kill")).toMatch(/^HTTP\/1.1 500 /);
  expect(printedBy("--retry")).toMatch(/HTTP\/1.1 201 /);
  expect(JSON.parse(printedBy("curl localhost:3000/orders")).toSorted()).toEqual(["coffee", "tea"]);
});
