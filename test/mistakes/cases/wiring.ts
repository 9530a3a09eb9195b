// What is read from the environment, what a handler is wrapped in, and what a key is made of.
import { randomUUID } from "node:crypto";
import { PassThrough } from "node:stream";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { App, Duration, Stack } from "aws-cdk-lib";
import { Annotations, Match, Template } from "aws-cdk-lib/assertions";
import { Code, Function as LambdaFunction, Runtime } from "aws-cdk-lib/aws-lambda";
import { idempotent, keyFromSns, runOnce } from "onceonly";
import { IdempotencyTable, UseIdempotency, type UseIdempotencyOptions } from "onceonly/cdk";
import { DynamoDBStore } from "onceonly/dynamodb";
import { fakeClock, fakeLambdaContext, MemoryStore } from "onceonly/testing";
import { explore, Simulator } from "onceonly-explorer";
import type { Mistake } from "../given.ts";
import { logOf, messageOf } from "../given.ts";

const given = { operation: "order", store: new MemoryStore(), key: (event: { id: string }) => event.id };
const context = () => fakeLambdaContext({ clock: fakeClock() });
const unset = (process.env as Readonly<Record<string, string | undefined>>).NO_SUCH_VARIABLE;

/** What an option of another type is answered with. */
const refused = (options: object) => messageOf(() => idempotent(async () => 1, { ...given, ...options }));

/** What the first event of a process logs, if its key is read like this. */
const keyLog = (key: (event: { id: string }, given: { awsRequestId: string }) => string) =>
  logOf("warn", () => idempotent(async () => 1, { ...given, key })({ id: "1" }, context()));

/** What is reported of a handler that calls another system. */
async function reportOf(
  work: (id: string) => Promise<unknown>,
  { key = ({ id }: { id: string }) => id, only = "duplicate-afterwards" } = {},
): Promise<string> {
  const store = new DynamoDBStore({ tableName: "idempotency" });
  const handler = idempotent(async ({ id }: { id: string }) => void (await work(id)), {
    ...given,
    store,
    key,
  });
  const outside = { "https://mail.example": () => Response.json({}) };
  const options = { name: "order", idempotencyTable: "idempotency", outside, only };
  return String(await explore(handler, { id: "1" }, options));
}

const send = (id: string) =>
  fetch("https://mail.example/send", { method: "POST", headers: { "idempotency-key": id } });

/** A stack of two functions of one table. */
function stackWith(options: UseIdempotencyOptions): Stack {
  const app = new App({ builtinCloudFormationValidation: false, analyticsReporting: false });
  const stack = new Stack(app, "Shop");
  const table = new IdempotencyTable(stack, "Records");
  for (const id of ["Orders", "Refunds"]) {
    const code = Code.fromInline("exports.handler = () => {}");
    new LambdaFunction(stack, id, { runtime: Runtime.NODEJS_24_X, handler: "index.handler", code }).with(
      new UseIdempotency(table, options),
    );
  }
  return stack;
}

export const WIRING_MISTAKES: readonly Mistake[] = [
  {
    made: "takes the table's name from an environment variable that isn't set",
    reportedBy: "error",
    text: "`tableName` must be the name or ARN of a table: check that the environment variable it comes from is set (got undefined)",
    make: () => messageOf(() => new DynamoDBStore({ tableName: unset })),
  },
  {
    made: "builds the table's name in a template from a variable that isn't set",
    reportedBy: "error",
    text: "`tableName` must be the name or ARN of a table: check that the environment variable it comes from is set (got a string of 17 characters)",
    make: () => messageOf(() => new DynamoDBStore({ tableName: `${unset}-records` })),
  },
  {
    made: "builds the operation's name in a template from a variable that isn't set",
    reportedBy: "error",
    text: '`operation` contains "undefined" or a similar text; a template literal probably used an unset variable. Use a name that never changes',
    make: () => refused({ operation: `${unset}-order` }),
  },
  {
    made: "passes `leaseSeconds` as the string from an environment variable",
    reportedBy: "error",
    text: "`leaseSeconds` must be a number of seconds between 0.001 and 86400 (got a string of 2 characters)",
    make: () => refused({ leaseSeconds: "30" }),
  },
  {
    made: "converts a variable that isn't set to a number for `retentionSeconds`",
    reportedBy: "error",
    text: "`retentionSeconds` must be a number of seconds between 1 and 315360000 (got NaN)",
    make: () => refused({ retentionSeconds: Number(unset) }),
  },
  {
    made: "gives the waiting time in milliseconds",
    reportedBy: "error",
    text: "(got an object; did you mean { waitSeconds: 3 }?)",
    make: () => refused({ whenInProgress: { waitSeconds: 3000 } }),
  },
  {
    made: "misspells an option",
    reportedBy: "error",
    text: "`retentionSecond` isn't an option (did you mean `retentionSeconds`?)",
    make: () => refused({ retentionSecond: 60 }),
  },
  {
    made: "passes a DynamoDB client, a class or a name as the store",
    reportedBy: "error",
    text: "`store` must be a store, such as `new DynamoDBStore({ tableName })`",
    make: () => refused({ store: DynamoDBStore }),
  },
  {
    made: "passes the name of a field as the key",
    reportedBy: "error",
    text: "`key` must be a function that reads it, such as `(event) => event.orderId` (got a string of 7 characters)",
    make: () => refused({ key: "orderId" }),
  },
  {
    made: "leaves the Region out",
    reportedBy: "error",
    text: "the idempotency store refused PutItem on records (Region is missing), and will refuse it again: fix the permissions, the table or the request",
    make: () => {
      const credentials = { accessKeyId: "KEY", secretAccessKey: "secret" };
      const region = () => Promise.reject(new Error("Region is missing"));
      const client = new DynamoDBClient({ credentials, region });
      const store = new DynamoDBStore({ tableName: "records", client });
      return messageOf(() => runOnce({ operation: "order", store, leaseSeconds: 30 }, "k", {}, () => 1));
    },
  },
  {
    made: "builds the key from a random value",
    reportedBy: "log",
    text: 'onceonly: the key of "order" is a different string each time, probably from a clock or a random id, so no retry is recognized: build the key only from what the event contains',
    make: () => keyLog(() => crypto.randomUUID()),
  },
  {
    made: "builds the key from the invocation's id",
    reportedBy: "log",
    text: 'onceonly: the key of "order" contains the awsRequestId, which differs in every retry, so no retry is recognized: build the key only from what the event contains',
    make: () => keyLog((_, { awsRequestId }) => awsRequestId),
  },
  {
    made: "builds the key from the clock",
    reportedBy: "report",
    text: "2 calls of POST https://mail.example/send instead of 1",
    make: () => reportOf((id) => send(`${id}/${Date.now()}`), { key: ({ id }) => `${id}/${Date.now()}` }),
  },
  {
    made: "passes `childKey` a random name",
    reportedBy: "report",
    text: "2 calls of POST https://mail.example/send instead of 1",
    make: async () => {
      const store = new DynamoDBStore({ tableName: "idempotency" });
      const handler = idempotent(
        async (_: { id: string }, { idempotency }) =>
          void (await send(idempotency.childKey(`mail-${randomUUID()}`))),
        { ...given, store },
      );
      const outside = { "https://mail.example": () => Response.json({}) };
      return String(
        await explore(handler, { id: "1" }, { name: "order", idempotencyTable: "idempotency", outside }),
      );
    },
  },
  {
    made: "doesn't await a call",
    reportedBy: "report",
    text: "is still running after the handler returned",
    make: () => reportOf(async (id) => void send(id)),
  },
  {
    made: "swallows the error of a call, and reports success",
    reportedBy: "report",
    text: "no call of POST https://mail.example/send instead of 1",
    make: () => reportOf((id) => send(id).catch(() => undefined), { only: "2 unsent" }),
  },
  {
    made: "passes a whole queue batch to `idempotent`",
    reportedBy: "log",
    text: 'onceonly: "order" treats 2 records from aws:sqs as one operation, but they may come back in different batches: use idempotentBatch with a handler for a single record',
    make: () => {
      interface Batch {
        readonly Records: readonly { readonly messageId: string; readonly eventSource: string }[];
      }
      const eventSource = "aws:sqs";
      const key = ({ Records }: Batch) => Records[0]?.messageId;
      const event = { Records: ["m1", "m2"].map((messageId) => ({ messageId, eventSource })) };
      return logOf("warn", () => idempotent(async () => 1, { ...given, key })(event, context()));
    },
  },
  {
    made: "passes a queue message to `keyFromSns`",
    reportedBy: "error",
    text: "the record has no `Sns`, so it comes from another source: for queues and streams use idempotentBatch",
    make: () => messageOf(() => keyFromSns()({ Records: [{ eventSource: "aws:sqs" }] } as never)),
  },
  {
    made: "wraps a `streamifyResponse` handler",
    reportedBy: "error",
    text: "`handler` must return its response, but a streamifyResponse handler writes it to a stream, which can't be replayed: use httpIdempotentStream, or call runOnce inside such a handler",
    make: () => {
      const handler = idempotent(async () => undefined, given) as (event: object, stream: object) => unknown;
      return messageOf(() => handler({ id: "1" }, new PassThrough()));
    },
  },
  {
    made: "wraps a handler twice",
    reportedBy: "error",
    text: 'operation "order" runs inside itself with the same key: give the inner operation a different name',
    make: () =>
      messageOf(() =>
        idempotent(
          idempotent(async () => 1, given),
          given,
        )({ id: "2" }, context()),
      ),
  },
  {
    made: "commits an item in DynamoDB's marshalled form",
    reportedBy: "error",
    text: 'writes[0] has marshalled values, such as { S: "a" }: pass plain values, such as "a"',
    make: () => {
      const Put = { TableName: "orders", Item: { id: { S: "1" }, cents: { N: "500" } } };
      const store = new DynamoDBStore({ tableName: "records" });
      return messageOf(() => store.checkEffects({ writes: [{ Put }], messages: [] }));
    },
  },
  {
    made: "commits twice",
    reportedBy: "error",
    text: "commit was already called: pass all writes and messages to a single commit",
    make: () =>
      messageOf(() =>
        runOnce({ operation: "order", store: given.store, leaseSeconds: 30 }, "twice", {}, async (own) => {
          await own.commit("one");
          return own.commit("two");
        }),
      ),
  },
  {
    made: "commits after the handler has returned",
    reportedBy: "error",
    text: "this attempt has ended: await commit before the handler returns",
    make: () =>
      messageOf(async () => {
        const options = { operation: "order", store: given.store, leaseSeconds: 30 };
        let late = async (): Promise<unknown> => undefined;
        await runOnce(options, "late", {}, (own) => {
          late = () => own.commit("late");
        });
        return late();
      }),
  },
  {
    made: "runs two functions under one operation",
    reportedBy: "synthesis",
    text: 'Shop/Orders and Shop/Refunds both run the operation "order" on Shop/Records, so for one key only the first runs and the other returns its result: give each function its own operation name',
    make: () =>
      Annotations.fromStack(stackWith({ operations: ["order"] }))
        .findWarning("*", Match.stringLikeRegexp("shared-operation"))
        .map(({ entry }) => entry.data)
        .join("\n"),
  },
  {
    made: "gives `UseIdempotency` a retention that the handler refuses",
    reportedBy: "synthesis",
    text: "retention 34560000 s of Shop/Orders > 31622400 s (366 days), which the handler rejects as its retentionSeconds: shorten it, or set allowLongRetention on both UseIdempotency and the handler",
    make: () => messageOf(() => Template.fromStack(stackWith({ retention: Duration.days(400) }))),
  },
  {
    made: "runs a simulation under fake timers",
    reportedBy: "error",
    text: "vi.useRealTimers()",
    make: async () => {
      const { vi } = await import("vitest");
      vi.useFakeTimers();
      try {
        return await messageOf(() => new Simulator());
      } finally {
        vi.useRealTimers();
      }
    },
  },
];
