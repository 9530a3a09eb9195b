// What others write into records, templates and reports can't act on the terminal of whoever reads it.
import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ATTRIBUTES } from "../../../lib/contract.ts";
import { OutcomeUnknownError } from "../../../lib/core/errors.ts";
import { identify } from "../../../lib/core/identity.ts";
import { runOnce } from "../../../lib/core/run-once.ts";
import { fakeClock } from "../../../lib/testing/fake-clock.ts";
import { root } from "../../../test/kit/project.ts";
import { run } from "../../../test/kit/run.ts";
import { ExploreReport } from "../../explorer/lib/explorer/report.ts";
import { reportPage } from "../../explorer/lib/explorer/report-page.ts";
import { runCommand, UsageError } from "../lib/commands.ts";
import { newWorld, runAlone, type World } from "./world.ts";

/** Clears the screen, ends the line, hides behind a mark of direction, begins a C1 sequence, has no width. */
const HOSTILE = "x\u001b[2J\r\nok\u202egpj\u009b31m\u200b\u0007";
const SHOWN = "x\\u001b[2J\\r\\nok\\u202egpj\\u009b31m\\u200b\\u0007";
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

let world: World;
let folder: string;
beforeAll(async () => {
  world = await newWorld();
  folder = await mkdtemp(join(tmpdir(), "onceonly-escapes-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** A held key with everything that others can write into a record. */
async function hostileRecord() {
  const operation = `pay ${HOSTILE.replaceAll(/\p{Cc}/gu, "")}`;
  const [key, scope] = [randomUUID(), `acme\u202e`];
  const { store, clock } = world;
  const options = { operation, scope, store, clock, leaseSeconds: 30 };
  const held = runOnce({ ...options, whenAbandoned: "hold", renewLease: false }, key, {}, () => {
    throw new OutcomeUnknownError();
  });
  await expect(held).rejects.toThrow();
  const { recordKey } = identify(operation, scope, key);
  const at = clock.now();
  const evidence = {
    ...{ verdict: "unknown", by: HOSTILE, at, step: HOSTILE, asked: HOSTILE, answered: HOSTILE },
    lastError: { name: HOSTILE, at },
    acts: [{ act: "drop", messages: [0], count: 1, by: HOSTILE, why: HOSTILE, at }],
  };
  await plant(recordKey, { evidence: JSON.stringify(evidence) });
  return { operation, scope, key, recordKey };
}

async function hostileMessages() {
  const operation = "ship";
  const { store, clock } = world;
  const key = randomUUID();
  const queue = "https://sqs.us-east-1.amazonaws.com/123456789012/payments";
  await runOnce({ operation, store, clock, leaseSeconds: 30 }, key, {}, ({ commit }) =>
    commit("done", { messages: [{ queue, key, body: "{}" }] }),
  );
  const { recordKey } = identify(operation, "", key);
  const progress = [{ state: "waiting", tries: 1, at: clock.now(), code: HOSTILE }];
  const unsent = await world.outbox.load(recordKey);
  await world.outbox.keep(unsent!, progress as never, clock.now());
  return { operation, key, recordKey };
}

async function plant(recordKey: string, texts: Readonly<Partial<Record<keyof typeof ATTRIBUTES, string>>>) {
  for (const [name, text] of Object.entries(texts)) {
    await world.client.send(
      new UpdateItemCommand({
        TableName: world.tableName,
        Key: { pk: { S: recordKey } },
        UpdateExpression: "SET #name = :text",
        ExpressionAttributeNames: { "#name": ATTRIBUTES[name as keyof typeof ATTRIBUTES] },
        ExpressionAttributeValues: { ":text": { S: text } },
      }),
    );
  }
}

const expectPlain = (text: string) => {
  for (const line of text.split("\n")) expect(line).not.toMatch(UNSEEN);
  return text;
};

describe("onceonly", () => {
  it("H93: R6: shows a hostile record escaped, line by line, and as the same JSON", async () => {
    const { operation, scope, key } = await hostileRecord();
    const about = [key, "-o", operation, "-s", scope];

    const found = await world.run("find", about);
    const traced = await world.run("trace", about);
    const listed = await world.run("list", ["unknown"]);
    const json = await world.run("find", [...about, "--json"]);

    for (const { text } of [found, traced, listed, json]) expectPlain(text);
    for (const { text } of [found, traced]) {
      expect(text).toContain(`question: ${SHOWN}`);
      expect(text).toContain(`answer: ${SHOWN}`);
      expect(text).toContain(`last error: ${SHOWN}`);
      expect(text).toContain(`verdict of step ${SHOWN}: unknown, by ${SHOWN}`);
      expect(text).toContain(`why: ${SHOWN}`);
    }
    expect(JSON.parse(json.text).evidence).toMatchObject({
      asked: HOSTILE,
      answered: HOSTILE,
      step: HOSTILE,
    });
  });

  it("H93: R6: shows a provider's escaped words about a message, its destination, and the reason of a group", async () => {
    const { key, operation } = await hostileMessages();

    const found = await world.run("find", [key, "-o", operation]);
    const waiting = await world.run("list", ["waiting"]);
    const grouped = await world.run("outbox", ["list"]).catch(() => undefined);

    expect(expectPlain(found.text)).toContain(SHOWN);
    expectPlain(waiting.text);
    if (grouped) expectPlain(grouped.text);
  });

  it("H93: R6: asks its questions in one line of characters that are seen", async () => {
    const { operation, scope, key } = await hostileRecord();
    const by = ["--by", `ana${HOSTILE}`, "--why", HOSTILE];

    const { asked, text } = await world.run("release", [key, "-o", operation, "-s", scope, ...by], false);

    for (const question of asked) expect(question).not.toMatch(UNSEEN);
    expectPlain(text);
  });

  it("H93: R6: a command can't print what isn't escaped, whatever it is", async () => {
    const [printed, asked]: string[][] = [[], []];
    const terminal = {
      print: (line: string) => void printed!.push(line),
      confirm: async (question: string) => Boolean(asked!.push(question)),
      clock: fakeClock(),
      env: {},
    };
    const command = {
      usage: "",
      options: {},
      async run({ terminal: given }: { terminal: typeof terminal }): Promise<0> {
        given.print(HOSTILE);
        await given.confirm(HOSTILE);
        return 0;
      },
    };

    await runCommand(command as never, [], terminal);

    expect([printed, asked]).toEqual([[SHOWN], [SHOWN]]);
  });

  it("H93: R6: prints its usage in lines", async () => {
    const { text } = await runAlone("find", ["--help"]);

    expect(text.split("\n").length).toBeGreaterThan(5);
    expect(text).not.toContain("\\n");
  });

  it("H93: R6: shows an error escaped: in one line, unless its text is ours", async () => {
    const command = join(root, "packages/cli/lib/onceonly.ts");
    const module = join(folder, "hostile.mjs");
    await writeFile(module, `throw new Error(${JSON.stringify(HOSTILE)});`);

    const failed = await run(process.execPath, ["--import", "tsx", command, "explore", module], root).catch(
      (error: Error) => String((error.cause as { stderr: string }).stderr),
    );

    expect(failed).toContain(SHOWN);
  });

  it("H93: R6: the doctor shows names in a template", async () => {
    const file = join(folder, "Hostile.template.json");
    const queue = { Type: "AWS::SQS::Queue", Properties: { QueueName: HOSTILE, FifoQueue: true } };
    const table = { Type: "AWS::DynamoDB::Table", Properties: { TableName: HOSTILE } };
    await writeFile(file, JSON.stringify({ Resources: { [`Queue${HOSTILE}`]: queue, [HOSTILE]: table } }));

    const reported = await runAlone("doctor", ["--template", file]).catch((error: unknown) => {
      if (!(error instanceof UsageError)) throw error;
      return { text: "" };
    });

    expectPlain(reported.text);
  });

  it("H93: R6: the explorer's report and its page show names, answers and findings", () => {
    const finding = {
      ...{ id: HOSTILE, kind: "differs", disturbance: HOSTILE, what: HOSTILE, advice: HOSTILE, seed: 1 },
      ...{ trace: "one\ntwo", steps: [], point: undefined },
    };
    const report = new ExploreReport({
      ...{ name: HOSTILE, points: [{ number: 1, label: HOSTILE }], runs: 1, findings: [finding] },
      ...{ accepted: [{ call: HOSTILE, most: 2, disturbance: HOSTILE }], masked: [HOSTILE] },
      held: { runs: 1, disturbance: HOSTILE, lastErrors: [{ name: HOSTILE, at: 0 }] },
      undone: { runs: 1, disturbance: HOSTILE },
      ...{ seed: 1, undisturbed: HOSTILE, leftOut: 0, firstOnly: [HOSTILE] },
    } as never);

    expect(expectPlain(String(report))).toContain(SHOWN);
    const page = expectPlain(reportPage([report]));
    expect(page).toContain(SHOWN);
    expect(page).toContain("<pre>one\ntwo</pre>");
  });
});
