// Changes of an app that runs. A template needs no synthesis, so each test is quick; code-changes.test.ts has CDK apps.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type Clock, systemClock } from "../../../../lib/core/clock.ts";
import { type RunningStack, startStack } from "../../lib/index.ts";
import { assemblyOf } from "./given.ts";
import { inlineFunction, until } from "./world.ts";

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Looks for changes all the time. */
const impatient: Clock = { ...systemClock, sleep: (_, signal) => systemClock.sleep(5, signal) };

const handler = (body: string) => `exports.handler = async (event) => { ${body} };\n`;
const fn = (more: object = {}) => ({
  Type: "AWS::Lambda::Function",
  Properties: { Runtime: "nodejs24.x", Handler: "index.handler", Code: "code", ...more },
});

interface WatchedApp {
  readonly stack: RunningStack;
  readonly changes: string[];
  readonly lines: readonly string[];
  /** The first line about a change that begins so, once there is one. */
  reported(start: string): Promise<string>;
  answer(path?: string): Promise<unknown>;
  writeCode(body: string): void;
  writeResources(resources: object): void;
}

async function startWatched(resources: object = { Answer: fn() }): Promise<WatchedApp> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "onceonly-test-watch-")));
  cleanups.push(() => rm(folder, { recursive: true }));
  mkdirSync(join(folder, "code"));
  const writeCode = (body: string) => writeFileSync(join(folder, "code", "index.js"), handler(body));
  const writeResources = (Resources: object) =>
    writeFileSync(join(folder, "template.json"), JSON.stringify({ Resources }));
  writeCode('return "one"');
  writeResources(resources);
  const changes: string[] = [];
  const lines: string[] = [];
  const stack = await startStack({
    folder,
    dynamodbEndpoint: "http://127.0.0.1:9",
    clock: impatient,
    watch: (line) => changes.push(line),
    log: (line) => lines.push(line),
  });
  cleanups.push(stack.stop);
  return {
    stack,
    changes,
    lines,
    reported: (start) => until(() => changes.find((line) => line.startsWith(start))),
    async answer(path = "Answer") {
      const result = await stack.functions[path]?.host.invoke("{}");
      if (result?.outcome !== "ok") throw new Error(JSON.stringify([result, changes]));
      return JSON.parse(result.payload);
    },
    writeCode,
    writeResources,
  };
}

describe("B13: a change while a stack runs", () => {
  it("of a function's code runs from the next invocation on, and the invocation that runs finishes as it began", async () => {
    const app = await startWatched();
    app.writeCode('console.log("begun"); await new Promise((r) => setTimeout(r, 2_000)); return "slow"');
    await app.reported("picked up");
    app.changes.length = 0;

    const slow = app.answer();
    await until(() => app.lines.some((line) => line.includes("begun")));
    app.writeCode('return "two"');
    expect(await app.reported("picked up")).toMatch(/^picked up after [\d.]+ s: Answer$/);

    expect(await app.answer()).toBe("two");
    expect(await slow).toBe("slow");
    expect(app.changes[0]).toMatch(/^changed: .*code\/index\.js$/);
  });

  it("replaces only the functions that changed: others keep their processes", async () => {
    const Code = {
      ZipFile: handler("globalThis.calls = (globalThis.calls ?? 0) + 1; return globalThis.calls"),
    };
    const app = await startWatched({ Answer: fn(), Count: fn({ Code }) });
    expect(await app.answer("Count")).toBe(1);

    app.writeCode('return "two"');
    await app.reported("picked up");

    expect(await app.answer("Count")).toBe(2);
  });

  it("of a function's settings in the template is picked up too", async () => {
    const app = await startWatched({ Answer: fn({ Environment: { Variables: { WORD: "one" } } }) });
    app.writeCode("return process.env.WORD");
    await app.reported("picked up");
    app.changes.length = 0;

    app.writeResources({ Answer: fn({ Environment: { Variables: { WORD: "two" } } }) });
    await app.reported("picked up");

    expect(await app.answer()).toBe("two");
  });

  it("of anything else is named, because it needs a restart, and named once", async () => {
    const Jobs = { Type: "AWS::SQS::Queue", Properties: { VisibilityTimeout: 30 } };
    const app = await startWatched({ Answer: fn(), Jobs, Gone: { Type: "AWS::SQS::Queue" } });

    const changed = { Answer: fn(), Jobs: { ...Jobs, Properties: { VisibilityTimeout: 60 } } };
    app.writeResources({ ...changed, New: { Type: "AWS::SNS::Topic" } });
    await app.reported("needs a restart: AWS::SNS::Topic");
    app.writeCode('return "two"');
    await app.reported("picked up");

    expect(app.changes.filter((line) => line.startsWith("needs a restart"))).toEqual([
      "needs a restart: AWS::SQS::Queue Gone was removed",
      "needs a restart: AWS::SQS::Queue Jobs changed",
      "needs a restart: AWS::SNS::Topic New is new",
    ]);
    expect(app.changes).toContainEqual(expect.stringMatching(/^no function changed/));
    expect(await app.answer()).toBe("two");
  });

  it("that refers to something new leaves the function as it is, and reports what it lacks", async () => {
    const app = await startWatched();

    const Environment = { Variables: { QUEUE: { Ref: "Jobs" } } };
    app.writeResources({ Answer: fn({ Environment }), Jobs: { Type: "AWS::SQS::Queue" } });

    expect(await app.reported("needs a restart: AWS::Lambda::Function")).toContain("Jobs");
    expect(await app.answer()).toBe("one");
  });

  it("that can't be read is reported, and the code from before runs on until it is repaired", async () => {
    const app = await startWatched();
    const template = { Answer: fn() };

    app.writeResources([]);
    expect(await app.reported("change not applied, the previous code keeps running: ")).toContain(
      "Resources",
    );
    expect(await app.answer()).toBe("one");
    app.writeResources(template);
    app.writeCode('return "two"');
    await app.reported("picked up");

    expect(await app.answer()).toBe("two");
  });

  it("of an assembly that is read in place, as another terminal writes it, is picked up", async () => {
    const templateOf = (word: string) => ({ Resources: { Answer: inlineFunction(`return "${word}"`) } });
    const folder = await assemblyOf({ App: templateOf("one") });
    cleanups.push(() => rm(folder, { recursive: true }));
    const changes: string[] = [];
    const stack = await startStack({
      folder,
      dynamodbEndpoint: "http://127.0.0.1:9",
      clock: impatient,
      watch: (line) => changes.push(line),
    });
    cleanups.push(stack.stop);

    await writeFile(join(folder, "App.template.json"), JSON.stringify(templateOf("two")));
    await until(() => changes.some((line) => line.startsWith("picked up")));

    expect(await stack.functions.Answer?.host.invoke("{}")).toMatchObject({ payload: '"two"' });
  });

  it("that only touches a file, or is in node_modules, isn't one", async () => {
    const app = await startWatched();
    const file = join(String(app.stack.functions.Answer?.codeDirectory), "index.js");
    mkdirSync(join(file, "../node_modules"));
    await writeFile(join(file, "../node_modules/package.js"), "");
    writeFileSync(file, readFileSync(file, "utf8"));

    app.writeCode('return "two"');
    await app.reported("picked up");

    expect(app.changes.filter((line) => line.startsWith("changed"))).toEqual([
      expect.stringMatching(/^changed: [^,]*index\.js$/),
    ]);
  });
});
