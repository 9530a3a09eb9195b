// An app of other people's constructs, which takes single ones of this package, runs on local engines. The tests also show
// what one more of its functions needs to run operations.
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { DynamoDBClient, GetItemCommand } from "@aws-sdk/client-dynamodb";
import { ReceiveMessageCommand, SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { WITHOUT_MESSAGES } from "../../../../test/kit/rights.ts";
import { type RunningStack, startStack } from "../../lib/index.ts";
import { type Assembly, synthesize } from "../../lib/stack/synthesize.ts";
import { until } from "./world.ts";

const folder = fileURLToPath(new URL("../../../../test/fixtures/ticket-office", import.meta.url));
const local = { region: "us-east-1", credentials: { accessKeyId: "local", secretAccessKey: "local" } };
const { signal } = new AbortController();

let app: Assembly;
let before: Assembly;
beforeAll(async () => {
  [app, before] = await Promise.all([
    synthesize({ folder, context: {}, signal }),
    synthesize({ folder, context: { before: "true" }, signal }),
  ]);
});
afterAll(() => Promise.all([app?.remove(), before?.remove()]));

interface Office {
  readonly stack: RunningStack;
  book(seat: string, key: string): Promise<{ status: number; replayed: boolean; body: unknown }>;
  /** What was done to a seat, and how often. */
  doneTo(seat: string): Promise<Record<string, unknown>>;
  stop(): Promise<void>;
}

async function startOffice(assembly: Assembly, dynamodbEndpoint: string): Promise<Office> {
  const stack = await startStack({ folder: assembly.folder, dynamodbEndpoint });
  const dynamodb = new DynamoDBClient({ ...local, endpoint: stack.endpoints.dynamodb });
  return {
    stack,
    async book(seat, key) {
      const response = await fetch(`${stack.url}/bookings`, {
        method: "POST",
        headers: { "idempotency-key": key },
        body: JSON.stringify({ seat }),
      });
      const replayed = response.headers.has("idempotent-replayed");
      return { status: response.status, replayed, body: await response.json() };
    },
    async doneTo(seat) {
      const { Item = {} } = await dynamodb.send(
        new GetItemCommand({
          TableName: stack.tables.Seats?.name,
          Key: { seat: { S: seat } },
          ConsistentRead: true,
        }),
      );
      const { seat: _, ...done } = unmarshall(Item);
      return done;
    },
    async stop() {
      dynamodb.destroy();
      await stack.stop();
    },
  };
}

interface Resource {
  readonly Type: string;
  readonly Properties: {
    readonly Environment?: { readonly Variables: object };
    readonly PolicyDocument?: { readonly Statement: readonly object[] };
  };
}

function resourcesOf({ folder: assembly }: Assembly): Record<string, Resource> {
  return JSON.parse(readFileSync(join(assembly, "TicketOffice.template.json"), "utf8")).Resources;
}

describe("a function of a foreign stack", () => {
  it("gets three environment variables and two statements by UseIdempotency, and nothing else changes", () => {
    const was = resourcesOf(before);
    const is = resourcesOf(app);

    const changed = Object.keys({ ...was, ...is }).filter(
      (id) => JSON.stringify(was[id]) !== JSON.stringify(is[id]),
    );

    expect(changed.map((id) => is[id]?.Type).sort()).toEqual(["AWS::IAM::Policy", "AWS::Lambda::Function"]);
    for (const id of changed) {
      expect(id).toMatch(/^BookSeat/);
      expect(is[id]).toEqual(withTheMixin(was[id]!));
    }
  });

  function withTheMixin({ Properties, ...resource }: Resource): unknown {
    const { Environment, PolicyDocument } = Properties;
    if (Environment) {
      const Variables = {
        ...Environment.Variables,
        IDEMPOTENCY_OUTBOX: "none",
        IDEMPOTENCY_RETENTION_SECONDS: "86400",
        IDEMPOTENCY_TABLE: expect.anything(),
      };
      return { ...resource, Properties: { ...Properties, Environment: { Variables } } };
    }
    const granted = {
      Effect: "Allow",
      Resource: { "Fn::GetAtt": [expect.stringMatching(/^Records/), "Arn"] },
    };
    const Statement = [
      ...(PolicyDocument?.Statement ?? []),
      { ...granted, Action: "dynamodb:GetItem" },
      { ...granted, Action: ["dynamodb:PutItem", "dynamodb:UpdateItem"], Condition: WITHOUT_MESSAGES },
    ];
    return { ...resource, Properties: { ...Properties, PolicyDocument: { ...PolicyDocument, Statement } } };
  }

  describe.each(inject("dynamodbEngines"))("on $name", ({ endpoint }) => {
    it("refuses to run without the mixin, since it has no table", async () => {
      const office = await startOffice(before, endpoint);
      try {
        expect(await office.book("A1", randomUUID())).toMatchObject({ status: 500 });
        expect(await office.doneTo("A1")).toEqual({});
      } finally {
        await office.stop();
      }
    });

    describe("with the mixin", () => {
      let office: Office;
      let sqs: SQSClient;
      beforeAll(async () => {
        office = await startOffice(app, endpoint);
        sqs = new SQSClient({ ...local, endpoint: office.stack.endpoints.sqs });
      });
      afterAll(async () => {
        sqs?.destroy();
        await office?.stop();
      });

      it("runs once for all requests of a key and replays its answer", async () => {
        const key = randomUUID();

        const first = await office.book("B1", key);
        const second = await office.book("B1", key);
        const other = await office.book("B1", randomUUID());

        expect(first).toEqual({ status: 201, replayed: false, body: { seat: "B1", bookings: 1 } });
        expect(second).toEqual({ ...first, replayed: true });
        expect(other).toEqual({ status: 201, replayed: false, body: { seat: "B1", bookings: 2 } });
      });

      it("feeds a DedupQueue, whose consumer does each message once, copies with other ids included", async () => {
        const QueueUrl = office.stack.queues.Tickets?.url;
        const [, consumer] = Object.entries(office.stack.eventSources).find(([path]) =>
          path.startsWith("PrintTicket/"),
        )!;
        await consumer.disable();
        await office.book("C1", randomUUID());
        const { Messages: [message] = [] } = await sqs.send(
          new ReceiveMessageCommand({ QueueUrl, MessageAttributeNames: ["All"], VisibilityTimeout: 0 }),
        );
        const { Body: MessageBody, MessageAttributes } = message!;
        const copy = { QueueUrl, MessageBody, MessageAttributes, MessageGroupId: "C1" };
        await sqs.send(new SendMessageCommand({ ...copy, MessageDeduplicationId: "copy" }));
        const last = { ...copy, MessageBody: JSON.stringify({ seat: "C2" }), MessageAttributes: {} };
        await sqs.send(new SendMessageCommand({ ...last, MessageDeduplicationId: "last" }));
        consumer.enable();

        // The group is in order: what came before it is done.
        await until(async () => (await office.doneTo("C2")).tickets);
        expect(await office.doneTo("C1")).toEqual({ bookings: 1, tickets: 1 });
      });

      it("runs next to functions that know nothing of it", async () => {
        const QueueUrl = office.stack.queues.Cancellations?.url;

        await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "D1" }));

        await until(async () => (await office.doneTo("D1")).cancellations === 1);
        expect(office.stack.notRun).toEqual([]);
      });
    });
  });
});
