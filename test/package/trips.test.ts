// The files that a call crosses: each is one more to open for somebody who follows it.
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { root } from "../../kit/project.ts";
import { run } from "../../kit/run.ts";
import { type ConsumerProjects, prepareConsumerProjects } from "./projects-world.ts";

/** At most, of the package beside its database, and of its database. */
const MOST = {
  "an HTTP commit of a write and a message": [25, 10],
  "an HTTP replay": [20, 9],
  "one send of the relay": [12, 9],
  "a plain first run": [20, 10],
};

let projects: ConsumerProjects;
beforeAll(async () => {
  projects = await prepareConsumerProjects();
}, 300_000);
afterAll(() => projects.remove());

it("an HTTP commit crosses 25 files of the built package at most, a replay 20, one send of the relay 12, and 10 of the database", async () => {
  const project = await projects.create("bare", ["@aws-sdk/client-dynamodb", "@aws-sdk/client-sqs"]);
  const installed = join(project, "node_modules/onceonly");
  const { stdout } = await run(process.execPath, [join(root, "tools/trips.mjs"), installed], project);
  const counts = [...stdout.matchAll(/^(.+): (\d+) files, and (\d+) of the database$/gm)];
  const files = new Map(counts.map(([, trip, ...numbers]) => [trip, numbers.map(Number)]));

  expect([...files.keys()].sort()).toEqual(Object.keys(MOST).sort());
  for (const [trip, most] of Object.entries(MOST)) {
    const isWithin = files.get(trip)?.every((count, index) => count <= most[index]!);
    expect(isWithin, `${trip}: ${files.get(trip)}, at most ${most}`).toBe(true);
  }
});
