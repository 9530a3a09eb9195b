// Each option of each command, in each form of a call: it is read, or it is refused by its name. None is passed over in silence.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ReceiveMessageCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
import { OutcomeUnknownError, runOnce } from "onceonly";
import { removePatches } from "onceonly-explorer";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { identify } from "../../../lib/core/identity.ts";
import { fakeClock } from "../../../lib/testing/fake-clock.ts";
import { listen, stop } from "../../local/lib/loopback-server.ts";
import { type CommandForm, formsOf, type OptionValues } from "../lib/command.ts";
import { COMMANDS, runCommand, type Terminal, UsageError } from "../lib/commands.ts";
import { holding } from "./held-given.ts";
import { startQueues } from "./queue-given.ts";
import { newWorld, type World } from "./world.ts";

const HANDLER = ["--handler", "packages/cli/test/replayed-given.ts"];
const BY = ["--by", "ana", "--why", "ticket 7", "--yes"];
const QUEUE = "https://sqs.eu-central-1.amazonaws.com/123456789012/payments";
const KEY = ["order-7", "-o", "book"];

/** A call of each form of each command, without its place. `it` is the form of a command that has no other. */
const CALLS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  start: { it: ["no-such-folder"] },
  console: { it: ["-t", "no-such-table"] },
  explore: { it: ["<reports>"] },
  conform: { it: ["<run>"] },
  doctor: {
    "a template": ["--template", "<template>"],
    "a deployed stack": ["--table", "records", "--max-requests", "1"],
    "a run of `onceonly start`": ["--endpoint", "<run>"],
  },
  find: { it: KEY },
  trace: { it: KEY },
  list: { "a list of an index": ["unknown"], "a scan": ["completed", "--scan", "--yes"] },
  replay: {
    "a record file": ["-o", "book", ...HANDLER, "--record", "<record>"],
    "a key": [...KEY, ...HANDLER],
  },
  resolve: {
    "a group": ["--group", "book", "--did-not-happen", ...BY],
    "a key": [...KEY, "--did-not-happen", ...BY],
  },
  release: { "a group": ["--group", "book", ...BY], "a key": [...KEY, ...BY] },
  rerun: { it: [...KEY, ...BY] },
  fork: { it: ["none", "-o", "book", "-s", "acme", ...BY, "--from", "charge", "--as", "new"] },
  redrive: { it: ["<dead letters>", ...BY] },
  erase: {
    "a scan": ["--scan", "-s", "acme", ...BY],
    "a file of keys": ["--keys-from", "<keys>", "-o", "book", ...BY],
    "a key": [...KEY, ...BY],
  },
  outbox: {
    "list of a record": ["list", "book##hash"],
    list: ["list"],
    edit: ["edit", "book##hash", "--message", "0", "--body-from", "<keys>", ...BY],
    "redirect of a group": ["redirect", "--group", "book", "--queue", QUEUE, ...BY],
    redirect: ["redirect", "book##hash", "--message", "0", "--queue", QUEUE, ...BY],
    "drop of a group": ["drop", "--group", "book", ...BY],
    drop: ["drop", "book##hash", "--message", "0", ...BY],
    "retry of a group": ["retry", "--group", "book", ...BY],
    retry: ["retry", "book##hash", ...BY],
  },
  openapi: { it: ["packages/cli/test/options-given.ts"] },
};

const FUNCTION = "AWS::Lambda::Function";
const HANDLING = { Environment: { Variables: { IDEMPOTENCY_TABLE: "records" } } };

/** Their calls name an endpoint already, or take none. */
const PLACED = [
  "start",
  "explore",
  "conform",
  "redrive",
  "openapi",
  "doctor a template",
  "doctor a run of `onceonly start`",
];

let world: World;
let folder: string;
let queues: Awaited<ReturnType<typeof startQueues>>;
let run: Server;
const given: Record<string, string> = {};

beforeAll(async () => {
  [world, queues] = await Promise.all([newWorld(), startQueues()]);
  folder = await mkdtemp(join(tmpdir(), "onceonly-forms-"));
  const files: Readonly<Record<string, string>> = {
    "reports.mjs": "export default [{ findings: [], points: [] }];",
    "template.json": JSON.stringify({ Resources: { Book: { Type: FUNCTION, Properties: HANDLING } } }),
    "record.json": JSON.stringify({ state: "completed" }),
    "keys.txt": "order-7\n",
  };
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(folder, name), text);
    given[`<${name.split(".")[0]}>`] = join(folder, name);
  }
  const { queue, dlq } = await queues.newPair();
  given["<dead letters>"] = dlq;
  await queues.client.send(new SendMessageCommand({ QueueUrl: queue, MessageBody: "{}" }));
  for (let receive = 0; receive < 3; receive++)
    await queues.client.send(new ReceiveMessageCommand({ QueueUrl: queue, VisibilityTimeout: 0 }));
  const endpoints = { dynamodb: world.endpoint, sqs: new URL(queue).origin };
  const resources = [{ type: FUNCTION, path: "Book", region: "us-east-1", properties: HANDLING }];
  run = createServer((_, response) =>
    response.end(JSON.stringify({ onceonly: "run", endpoints, resources })),
  );
  given["<run>"] = `http://127.0.0.1:${await listen(run, 0)}`;
});
afterEach(() => removePatches());
afterAll(async () => {
  await Promise.all([stop(run), queues.stop(), rm(folder, { recursive: true })]);
});

function callOf(command: string, form: string): readonly string[] {
  const args = CALLS[command]?.[form]?.map((arg) => given[arg] ?? arg) ?? [];
  const isPlaced = PLACED.some((placed) => placed === command || placed === `${command} ${form}`);
  const isOfTable = !isPlaced && command !== "console" && !`${command} ${form}`.startsWith("doctor");
  return [
    ...args,
    ...(isOfTable && form !== "a record file" ? ["--table", world.tableName] : []),
    ...(isPlaced || form === "a record file" ? [] : ["--endpoint", world.endpoint]),
  ];
}

const terminal = (): Terminal => ({
  print() {},
  clock: fakeClock(Date.now()),
  env: {},
  confirm: async () => undefined,
});

/** A key that is held, and a commit whose message is parked. */
async function newRecords(): Promise<World> {
  const fresh = await newWorld();
  const { store, outbox, clock } = fresh;
  const unknown = () => Promise.reject(new OutcomeUnknownError());
  await runOnce(holding(fresh, "book"), "order-7", {}, unknown).catch(() => {});
  await runOnce({ operation: "book", store, clock, leaseSeconds: 30 }, "order-8", {}, ({ commit }) =>
    commit("done", { messages: [{ queue: QUEUE, key: "order-8", body: {} }] }),
  );
  const commit = await outbox.load(identify("book", "", "order-8").recordKey);
  await outbox.keep(commit!, [{ state: "parked", tries: 9, at: clock.now() }], clock.now());
  return fresh;
}

/** The names of the options that a call of this form has read. What is copied whole is handed on. */
async function readBy(command: string, form: CommandForm): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  const watch = (values: OptionValues) =>
    new Proxy(values, {
      get(target, name: string) {
        names.add(name);
        return target[name];
      },
      ownKeys(target) {
        for (const name of Object.keys(form.options)) names.add(name);
        return Reflect.ownKeys(target);
      },
    });
  const forms = formsOf(COMMANDS[command]!).map((each) => ({
    ...each,
    is: ({ values, positionals }: Parameters<NonNullable<CommandForm["is"]>>[0]) =>
      each.is?.({ values: watch(values), positionals }) ?? true,
    run: (call: Parameters<CommandForm["run"]>[0]) => each.run({ ...call, values: watch(call.values) }),
  }));
  world = await newRecords();
  // Whether the call succeeds is not asked here.
  await runCommand({ usage: "", forms }, callOf(command, form.name), terminal()).catch(() => {});
  return names;
}

const FORMS = Object.entries(COMMANDS).flatMap(([command, each]) =>
  formsOf(each).map((form) => [command, form.name, form] as const),
);

describe("the forms of a command", () => {
  it("all have a call here", () => {
    const called = Object.entries(CALLS).flatMap(([command, forms]) =>
      Object.keys(forms).map((form) => `${command}: ${form}`),
    );

    expect(called.sort()).toEqual(FORMS.map(([command, form]) => `${command}: ${form}`).sort());
  });

  it.each(FORMS)("%s, %s: reads each option that it takes", async (command, _, form) => {
    const read = await readBy(command, form);

    expect(Object.keys(form.options).filter((name) => !read.has(name))).toEqual([]);
  });

  it.each(FORMS)(
    "%s, %s: refuses the options of other forms before any request, and names one",
    async (command, name, form) => {
      const others = formsOf(COMMANDS[command]!)
        .flatMap(({ options }) => Object.entries(options))
        .filter(([option]) => !(option in form.options))
        // They name what lives at the endpoint.
        .filter(([option]) => name !== "a run of `onceonly start`" || option === "template");
      for (const [option, { type }] of others) {
        const args = [...callOf(command, name), `--${option}`, ...(type === "string" ? ["x"] : [])];
        const refused = runCommand(COMMANDS[command]!, args, terminal());

        // The option may make it another form: then one of the others is named.
        await expect(refused).rejects.toThrow(UsageError);
        await expect(refused).rejects.toThrow(/ (?:doesn't accept|be combined with|or) --[a-z-]+/);
      }
    },
  );

  it.each(FORMS)("%s, %s: has each option in the text of --help", (command, _, { options }) => {
    const { usage } = COMMANDS[command]!;

    expect(Object.keys(options).filter((name) => !usage.includes(`--${name}`))).toEqual([]);
  });
});

describe("runCommand", () => {
  it.each([
    ["list", ["unknown", "--scan"], "a list of an index doesn't accept --scan (accepted by: a scan)"],
    ["list", ["parked", "-y"], "a list of an index doesn't accept --yes"],
    [
      "resolve",
      [...KEY, "--did-not-happen", "--limit", "5", ...BY],
      "a key doesn't accept --limit (accepted by: a group)",
    ],
    [
      "release",
      ["--group", "book", "-s", "acme", ...BY],
      "a group doesn't accept --scope (accepted by: a key)",
    ],
    [
      "erase",
      ["--scan", "--keys-from", "f", ...BY],
      "a scan doesn't accept --keys-from (accepted by: a file of keys)",
    ],
    ["doctor", ["--template", "t", "--max-requests", "5"], "a template doesn't accept --max-requests"],
    ["replay", ["-o", "book", "--record", "f", "-t", "records"], "a record file doesn't accept --table"],
    [
      "find",
      [...KEY, "-t", "one", "--table", "other"],
      "--table was given twice, but accepts only one value",
    ],
    ["doctor", ["--endpoint", "http://a", "--endpoint", "http://b"], "--endpoint was given twice"],
  ])("%s refuses %j", async (command, args, message) => {
    await expect(runCommand(COMMANDS[command]!, args, terminal())).rejects.toThrow(message);
  });

  it("takes a word twice that says the same twice, and an option that may be repeated", async () => {
    const { status } = await (await newWorld()).run("list", ["unknown", "--json", "--json"]);
    const repeated = runCommand(COMMANDS.doctor!, ["--template", "a", "--template", "b"], terminal());

    expect(status).toBe(1);
    await expect(repeated).rejects.toThrow("can't read the template a");
  });
});
