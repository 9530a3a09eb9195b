// What the buttons of the console do to a local run, and to groups of messages.
import { randomUUID } from "node:crypto";
import { type AttributeValue, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { EventBridgeClient, PutEventsCommand } from "@aws-sdk/client-eventbridge";
import { PublishBatchCommand, PublishCommand, SNSClient } from "@aws-sdk/client-sns";
import { ReceiveMessageCommand, SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect } from "../../../../test/kit/tables.ts";
import { type ConsoleUnderTest, newConsole } from "./page-world.ts";

const cleanups: (() => unknown)[] = [];
let shop: ConsoleUnderTest;

beforeAll(async () => {
  shop = await newConsole(cleanups, true);
});
afterAll(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const act = (name: string, more: object = {}) => shop.source.act({ act: name, ...more });
const breakage = async () => (await shop.source.look()).local!.breakage;

/** A client with the endpoint that functions are given. */
async function clientOfFunctions() {
  const result = await shop.stack.functions.Echo!.host.invoke("{}");
  if (result.outcome !== "ok") throw new Error(result.outcome);
  const { endpoint } = JSON.parse(JSON.parse(result.payload).body).environment;
  const client = connect(endpoint, { region: "us-east-1", maxAttempts: 1 });
  cleanups.push(() => client.destroy());
  const table = shop.stack.tables.Records!.name;
  const write = (pk: string) =>
    client.send(new PutItemCommand({ TableName: table, Item: { pk: { S: pk } } }));
  return { write };
}

const credentials = { accessKeyId: "local", secretAccessKey: "local" };

function sqsClient(): SQSClient {
  const { sqs: endpoint } = shop.stack.endpoints;
  const client = new SQSClient({ endpoint, region: "us-east-1", credentials, maxAttempts: 1 });
  cleanups.push(() => client.destroy());
  return client;
}

async function waitUntil(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 20));
}

describe("the records of a local run", () => {
  it("report a damaged record as unreadable, and leave an item of another kind out", async () => {
    const table = shop.stack.tables.Records!.name;
    const client = connect(shop.stack.endpoints.dynamodb, { region: "us-east-1" });
    cleanups.push(() => client.destroy());
    const [damaged, foreign] = [`pay#acme#${randomUUID()}`, `session-${randomUUID()}`];
    const put = (Item: Record<string, AttributeValue>) =>
      client.send(new PutItemCommand({ TableName: table, Item }));
    const text = { S: "x" };
    await put({ pk: { S: damaged }, fingerprint: text, token: text, state: { S: "completed" } });
    await put({ pk: { S: foreign }, token: text });

    const { records } = await shop.source.look();

    const states = records.filter(({ keyHash }) => damaged.endsWith(keyHash)).map(({ state }) => state);
    expect(states).toEqual(["unreadable"]);
    expect(records.some(({ keyHash }) => foreign.endsWith(keyHash))).toBe(false);
  });
});

describe("the buttons of a local run", () => {
  it("send the last event of a function again", async () => {
    const before = (await breakage()).functions.find(({ path }) => path === "Slow");
    await shop.stack.functions.Echo!.host.invoke('{"order":"4711"}');

    const answer = await act("duplicate", { path: "Echo" });
    const never = await act("duplicate", { path: "Slow" });

    expect(answer).toEqual({ done: true, message: "Delivered the last event of Echo again. It ended: ok." });
    expect(before?.hasEvent).toBe(false);
    expect(never.done).toBe(false);
  });

  it("lose the answer to the next write, which was applied, and to no other", async () => {
    const { write } = await clientOfFunctions();
    const lost = randomUUID();

    const answer = await act("lose");
    const armed = await breakage();
    await expect(write(lost)).rejects.toThrow();
    await write(randomUUID());

    expect(answer.done).toBe(true);
    expect(armed.losesNext).toBe(true);
    expect((await breakage()).losesNext).toBe(false);
    expect(await keysInTable()).toContain(lost);
  });

  it("kill a function in the middle of an invocation", async () => {
    const { host } = shop.stack.functions.Slow!;
    const running = host.invoke("{}");
    let answer = await act("kill", { path: "Slow" });
    // It may not have begun.
    await waitUntil(async () => {
      if (/middle/.test(answer.message)) return true;
      answer = await act("kill", { path: "Slow" });
      return false;
    });

    expect((await running).outcome).toBe("crashed");
  });

  it("kill an idle function after its next write", async () => {
    const { write } = await clientOfFunctions();
    const { host } = shop.stack.functions.Slow!;

    const answer = await act("kill", { path: "Slow" });
    const running = host.invoke("{}");
    let isOver = false;
    void running.then(() => {
      isOver = true;
    });
    // The write stands for its own: it comes while the function runs.
    await waitUntil(async () => {
      await write(randomUUID());
      return isOver;
    });

    expect(answer.message).toContain("after its next write");
    expect((await running).outcome).toBe("crashed");
    expect((await breakage()).functions.find(({ path }) => path === "Slow")?.isToBeKilled).toBe(false);
  });

  it("take a queue down for senders, and bring it back", async () => {
    const sqs = sqsClient();
    const send = (queue: string) =>
      sqs.send(new SendMessageCommand({ QueueUrl: shop.stack.queues[queue]!.url, MessageBody: "{}" }));

    await act("turn", { path: "Payments" });
    await expect(send("Payments")).rejects.toMatchObject({ $metadata: { httpStatusCode: 503 } });
    const down = await breakage();
    await act("turn", { path: "Payments" });
    await send("Payments");

    expect(down.destinations.filter(({ isDown }) => isDown).map(({ path }) => path)).toEqual(["Payments"]);
  });

  it("take a topic down for publishers, and bring it back, while a queue next to it accepts messages", async () => {
    const { aws: endpoint } = shop.stack.endpoints;
    const sns = new SNSClient({ endpoint, region: "us-east-1", credentials, maxAttempts: 1 });
    cleanups.push(() => sns.destroy());
    const TopicArn = shop.stack.topics.News!.arn;
    const publish = () => sns.send(new PublishCommand({ TopicArn, Message: "{}" }));
    const Entries = [{ Id: "1", Message: "{}" }];
    const publishBatch = () =>
      sns.send(new PublishBatchCommand({ TopicArn, PublishBatchRequestEntries: Entries }));

    await act("turn", { path: "News" });
    for (const down of [publish, publishBatch])
      await expect(down()).rejects.toMatchObject({ $metadata: { httpStatusCode: 503 } });
    const QueueUrl = shop.stack.queues.Payments!.url;
    await sqsClient().send(new SendMessageCommand({ QueueUrl, MessageBody: "{}" }));
    await act("turn", { path: "News" });

    expect((await publish()).MessageId).toBeDefined();
  });

  it.each(["name", "ARN"])(
    "take an event bus down for callers that name it by its %s, and bring it back, while another accepts events",
    async (naming) => {
      const { aws: endpoint } = shop.stack.endpoints;
      const eventBridge = new EventBridgeClient({
        endpoint,
        region: "us-east-1",
        credentials,
        maxAttempts: 1,
      });
      cleanups.push(() => eventBridge.destroy());
      const put = (...buses: readonly (string | undefined)[]) => {
        const entry = { Source: "orders", DetailType: "created", Detail: "{}" };
        const Entries = buses.map((bus) => ({ ...entry, ...(bus && { EventBusName: bus }) }));
        return eventBridge.send(new PutEventsCommand({ Entries }));
      };
      const bus = naming === "ARN" ? shop.stack.buses.ShopBus!.arn : "shop";

      const answer = await act("turn", { path: "ShopBus" });
      const unavailable = { $metadata: { httpStatusCode: 503 } };
      await expect(put(bus)).rejects.toMatchObject(unavailable);
      await expect(put("other", bus)).rejects.toMatchObject(unavailable);
      const others = await put("other", undefined);
      await act("turn", { path: "ShopBus" });

      expect(answer.message).toBe("ShopBus now refuses messages.");
      expect(others.FailedEntryCount).toBe(0);
      expect((await put(bus)).FailedEntryCount).toBe(0);
    },
  );

  it("send dead letters back to the queue that they came from", async () => {
    const sqs = sqsClient();
    const QueueUrl = shop.stack.queues.Payments!.url;
    const deadLetters = async () =>
      (await shop.source.look()).local!.queues.find(({ path }) => path === "DeadPayments")!.visible;
    await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "{}" }));
    await waitUntil(async () => {
      await sqs.send(new ReceiveMessageCommand({ QueueUrl, VisibilityTimeout: 0 }));
      return (await deadLetters()) > 0;
    });

    const answer = await act("redrive", { path: "DeadPayments" });

    expect(answer.done).toBe(true);
    await waitUntil(async () => (await deadLetters()) === 0);
    await expect(act("redrive", { path: "Payments" })).rejects.toThrow("Dead Letter Queue");
  });

  it.each([
    ["kill", { path: "Nobody" }],
    ["duplicate", { path: "__proto__" }],
    ["turn", { path: "constructor" }],
    ["redrive", { path: "Nobody" }],
    ["explode", {}],
  ])("refuse %s of %j", async (name, more) => {
    await expect(act(name, more)).rejects.toThrow(/no such|isn't available/);
  });
});

describe("an owner's keys in a local run", () => {
  it("H90: are listed from its tables, and erased", async () => {
    const scope = `acme-${randomUUID()}`;
    const key = await shop.pay(() => "done", randomUUID(), { scope });
    const asked = { scope, operation: "" };

    const cost = await shop.source.owned({ ...asked, scan: false });
    const look = await shop.source.owned({ ...asked, scan: true });
    if (!("id" in look)) throw new Error("no list");
    const said = { typed: scope, by: "ops", why: "request 12" };
    const answer = await act("erase", { owned: look.id, ...said });

    expect(cost).toEqual({ cost: expect.stringContaining("a scan reads the whole table") });
    expect(answer).toEqual({ done: true, message: "Erased the answers of 1 of 1 keys." });
    const life = await shop.source.lifeOf((await shop.source.find({ operation: "pay", scope, key })).keyHash);
    expect(JSON.stringify(life)).toContain("erased by ops: request 12");
    const gone = await shop.source.find({ operation: "pay", scope, key: "never used" });
    expect(gone.isAbsent).toBe(true);
    expect(shop.source.childKeyOf(gone.keyHash, "charge", {})).toBeDefined();
  });
});

describe("the act on a group of messages", () => {
  const parcel = () => ({ queue: shop.paymentsQueue, key: randomUUID(), body: {} });
  const groups = async (operation: string) =>
    (await shop.source.look()).groups.filter((group) => group.operation === operation);

  it("has all of the group sent again", async () => {
    const more = { operation: "send-again" };
    for (let times = 0; times < 2; times++)
      await shop.pay(({ commit }) => commit("done", { messages: [parcel()] }), randomUUID(), more);
    const [group] = await groups("send-again");

    const answer = await act("retry", { group: group!.id, by: "ops", why: "the queue is back" });
    const lives = await Promise.all(group!.members.map(({ keyHash }) => shop.source.lifeOf(keyHash)));

    expect(group).toMatchObject({ list: "waiting", members: [{}, {}] });
    expect(answer).toEqual({ done: true, message: "Sending the messages of 2 commits again: 2." });
    for (const life of lives)
      expect(JSON.stringify(life)).toMatch(/message 0: sent again, by ops.*the queue is back/);
  });

  it("drops the messages of the group, and of no other", async () => {
    const send = (operation: string) =>
      shop.pay(({ commit }) => commit("done", { messages: [parcel()] }), randomUUID(), { operation });
    await send("drop-these");
    await send("keep-these");
    const [group] = await groups("drop-these");

    const said = { by: "ops", why: "nobody needs them" };
    const answer = await act("drop", { group: group!.id, ...said });
    const life = await shop.source.lifeOf(group!.members[0]!.keyHash);
    const again = await act("drop", { group: group!.id, ...said });

    expect(answer.done).toBe(true);
    expect(JSON.stringify(life)).toMatch(/message 0: dropped, by ops.*nobody needs them/);
    expect(again).toEqual({ done: false, message: "This group no longer exists." });
    expect(await groups("drop-these")).toEqual([]);
    expect(await groups("keep-these")).toHaveLength(1);
  });
});

describe("an act on a group without who decides, or why", () => {
  it.each([[{}], [{ by: "ops" }], [{ by: "", why: "the queue is back" }]])(
    "is refused, and changes nothing: %j",
    async (said) => {
      const operation = `unsaid-${randomUUID()}`;
      const message = { queue: shop.paymentsQueue, key: randomUUID(), body: {} };
      await shop.pay(({ commit }) => commit("done", { messages: [message] }), randomUUID(), { operation });
      const groupOf = async () =>
        (await shop.source.look()).groups.find((group) => group.operation === operation);
      const group = await groupOf();

      for (const name of ["retry", "drop"])
        await expect(act(name, { group: group!.id, ...said })).rejects.toThrow(
          "enter your name and a reason",
        );

      expect(await groupOf()).toEqual(group);
    },
  );
});

describe("the decision about a group of keys", () => {
  const said = { by: "ops", why: "the provider has no charge" };

  async function abandoned(operation: string) {
    const hold = { operation, whenAbandoned: "hold", leaseSeconds: 1, renewLease: false };
    const key = randomUUID();
    await new Promise<void>((begun) => {
      void shop.pay(
        () => {
          begun();
          return new Promise(() => {});
        },
        key,
        hold,
      );
    });
    const groupOf = async () =>
      (await shop.source.look()).groups.find((group) => group.operation === operation);
    await waitUntil(async () => (await groupOf()) !== undefined);
    return { key, hold, group: (await groupOf())!, groupOf };
  }

  it("lets a retry run under each, and keeps who decided so, and why", async () => {
    const { key, hold, group, groupOf } = await abandoned("settle-these");

    const answer = await act("did-not-happen", { group: group.id, ...said });
    let hasRun = false;
    const life = await shop.source.lifeOf(group.members[0]!.keyHash);
    await shop.pay(
      () => {
        hasRun = true;
      },
      key,
      hold,
    );

    expect(answer).toEqual({ done: true, message: "Retries may now run for 1 of 1 keys." });
    expect(JSON.stringify(life)).toContain("did-not-happen, by ops");
    expect(await groupOf()).toBeUndefined();
    expect(hasRun).toBe(true);
  });

  it("needs a name and a reason", async () => {
    const { group } = await abandoned("unsigned");

    for (const more of [{}, { by: "ops" }, { why: "so" }])
      await expect(act("did-not-happen", { group: group.id, ...more })).rejects.toThrow(
        "enter your name and a reason",
      );
  });
});

async function keysInTable(): Promise<readonly string[]> {
  const { ScanCommand } = await import("@aws-sdk/client-dynamodb");
  const client = connect(shop.stack.endpoints.dynamodb, { region: "us-east-1" });
  cleanups.push(() => client.destroy());
  const { Items = [] } = await client.send(new ScanCommand({ TableName: shop.stack.tables.Records!.name }));
  return Items.map(({ pk }) => `${pk?.S}`);
}
