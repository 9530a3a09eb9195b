// Stored items: another deployment, a script or an attacker may have written them. What cannot be read fails closed.
import { randomBytes } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import { type AttributeValue, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { isOnceonlyError, PermanentError, runOnce } from "onceonly";
import { ATTRIBUTES } from "../../../lib/contract.ts";
import { identify } from "../../../lib/core/identity.ts";
import { faultOf } from "../../../lib/core/messages/prepare-message.ts";
import { DynamoDBOutbox } from "../../../lib/dynamodb/dynamodb-outbox.ts";
import { DynamoDBStore } from "../../../lib/dynamodb/dynamodb-store.ts";
import { fakeClock } from "../../../lib/testing/fake-clock.ts";
import { DynamoDBModel } from "../../../packages/explorer/lib/aws/dynamodb/dynamodb-model.ts";
import { createOutboxTable } from "../../kit/tables.ts";
import { hold, type Suite } from "../world.ts";

export type Item = Record<string, AttributeValue>;

export interface HostileItem {
  readonly kind: Kind;
  readonly attribute: string;
  /** Absent: the attribute is taken away. */
  readonly value: AttributeValue | undefined;
}

const text = (value: string): AttributeValue => ({ S: value });
const number = (value: string): AttributeValue => ({ N: value });
const packed = (value: string): AttributeValue => ({ B: gzipSync(value) });

const ODD: readonly (AttributeValue | undefined)[] = [
  undefined,
  text(""),
  text("x"),
  text("completed"),
  text("failed"),
  text("released"),
  text("in-progress"),
  text("held"),
  text("__proto__"),
  text("constructor"),
  text('{"a":1}'),
  text('{"message":"no"}'),
  text("{"),
  text("null"),
  text("op##"),
  number("0"),
  number("-1"),
  number("1"),
  number("1.5"),
  number("2"),
  number("1e125"),
  number("9007199254740993"),
  number("1900000000"),
  number("1900000000000"),
  { BOOL: true },
  { NULL: true },
  { L: [] },
  { L: [text("a")] },
  { M: {} },
  { M: { a: text("b"), constructor: number("1") } },
  { SS: ["a"] },
  { NS: ["1"] },
  { B: new Uint8Array([1, 2, 3]) },
  packed('{"a":1}'),
  packed("{"),
];

const MUTATED = [
  "version",
  "state",
  "token",
  "attempt",
  "leaseEndsAt",
  "fingerprint",
  "createdAt",
  "completedAt",
  "evidence",
  "expiresAt",
  "steps",
  "result",
  "resultItem",
  "resultBytes",
  "messages",
  "messageItems",
  "unsentSince",
  "expiresOnceSent",
  "delivery",
  "sendingUntil",
  "sender",
  "unsettledSince",
] as const satisfies readonly (keyof typeof ATTRIBUTES)[];

const NOW = 1_900_000_000_000;
const QUEUE = "https://sqs.eu-central-1.amazonaws.com/123456789012/payments.fifo";
const LARGE = randomBytes(4000).toString("base64");

/** How each genuine record came about. */
const KINDS = {
  completed: (run: Run) => run(async ({ commit }) => commit({ ok: true })),
  large: (run: Run) => run(async ({ commit }) => commit(LARGE)),
  sending: (run: Run) =>
    run(async ({ commit }) =>
      commit({ ok: true }, { messages: [{ queue: QUEUE, key: "m", group: "g", body: {} }] }),
    ),
  failed: (run: Run) => run(async () => Promise.reject(new PermanentError("sold out"))),
  released: (run: Run) => run(async () => Promise.reject(new Error("again"))),
};
type Kind = keyof typeof KINDS;
type Work = Parameters<typeof runOnce>[3];
type Run = (work: Work) => Promise<unknown>;

/** A table in memory with one genuine record of each kind, and a way to try what is made of it. */
export async function storedItems() {
  const clock = fakeClock(NOW);
  const model = new DynamoDBModel({ clock });
  const creator = new DynamoDBClient(model.clientConfig());
  const TableName = await createOutboxTable(creator);
  // Without the SDK's own work, which is most of what a request in one process costs.
  const client = {
    send: ({ constructor: made, input }: { constructor: { name: string }; input: never }) =>
      model.call(made.name.replace(/Command$/, "") as "GetItem", input).catch((error) => {
        throw Object.assign(error, error.details);
      }),
  } as unknown as DynamoDBClient;
  const options = {
    operation: "op",
    store: new DynamoDBStore({ tableName: TableName, client }),
    leaseSeconds: 30,
    clock,
  };
  const outbox = new DynamoDBOutbox({ tableName: TableName, client });
  const run = (kind: Kind, work: Work) => clock.run(runOnce(options as never, kind, { order: 7 }, work));
  const keyOf = (kind: Kind) => identify("op", "", kind).recordKey;
  const read = async (pk: string) =>
    (await model.call("GetItem", { TableName, Key: { pk: { S: pk } } })).Item as Item | undefined;
  const genuine = new Map<Kind, Item>();
  for (const kind of Object.keys(KINDS) as Kind[]) {
    await KINDS[kind]((work) => run(kind, work)).catch(() => {});
    genuine.set(kind, (await read(keyOf(kind))) as Item);
  }

  /** @throws for a weakness */
  async function judge({ kind, attribute, value }: HostileItem): Promise<"refused" | "accepted"> {
    const { [attribute]: _, ...others } = genuine.get(kind) as Item;
    const item: Item = value === undefined ? others : { ...others, [attribute]: value };
    await model.call("PutItem", { TableName, Item: item as never });
    judgeImage(outbox, item);
    await judgeWaiting(outbox, keyOf(kind));
    let runs = 0;
    try {
      const result = await run(kind, async () => {
        runs++;
        return "ran";
      });
      if (runs > 0)
        hold(
          mayRun(item, (genuine.get(kind) as Item).fingerprint?.S),
          "ran over a record that says nothing of the kind",
        );
      else
        hold(
          JSON.stringify(result) === (await storedText(item, read)),
          `replayed ${JSON.stringify(result)?.slice(0, 100)}`,
        );
      return "accepted";
    } catch (error) {
      hold(isOnceonlyError(error) && runs === 0, `ran ${runs} times, and failed with ${String(error)}`);
      hold(
        /^(RECORD_CORRUPT|FINGERPRINT_MISMATCH|EXECUTION_IN_PROGRESS|RESULT_NOT_KEPT|OUTCOME_UNKNOWN|PERMANENT)$/.test(
          error.code,
        ),
        `failed with ${error.code}: ${error.message}`,
      );
      return "refused";
    }
  }
  return { judge, close: () => creator.destroy() };
}

/** What the relay makes of the same item, as an image of the table's stream. */
function judgeImage(outbox: DynamoDBOutbox, NewImage: Item): void {
  judgeMessages(outbox.readChange({ dynamodb: { NewImage } })?.unsent?.messages);
}

/** What the sweeper makes of it. */
async function judgeWaiting(outbox: DynamoDBOutbox, recordKey: string): Promise<void> {
  try {
    judgeMessages((await outbox.load(recordKey))?.messages);
  } catch (error) {
    hold(
      isOnceonlyError(error) && error.code === "RECORD_CORRUPT",
      `the sweeper failed with ${String(error)}`,
    );
  }
}

function judgeMessages(messages: readonly unknown[] = []): void {
  const [sendable, ...more] = messages.filter((message) => faultOf(message) === undefined);
  hold(
    more.length === 0 && (sendable === undefined || (sendable as { key: unknown }).key === "m"),
    "would send what nobody has committed",
  );
}

/** Said anew, from the words of the design: the retention is over, it was released, or its lease is over. */
function mayRun(
  { version, state, steps, expiresAt, leaseEndsAt, fingerprint }: Item,
  own: string | undefined,
): boolean {
  if (version?.N === undefined || Number(version.N) !== 1) return false;
  if (expiresAt?.N !== undefined && Number(expiresAt.N) * 1000 <= NOW) return true;
  const isSame = fingerprint?.S === own;
  if (state?.S === "released") return steps === undefined || isSame;
  return state?.S === "in-progress" && isSame && Number(leaseEndsAt?.N) < NOW;
}

async function storedText(
  item: Item,
  read: (pk: string) => Promise<Item | undefined>,
): Promise<string | undefined> {
  const { result, resultItem } = item;
  const held = resultItem?.S === undefined ? result : (await read(resultItem.S))?.result;
  if (held === undefined) return undefined;
  const stored = held.S ?? gunzipSync(held.B as Uint8Array).toString();
  return JSON.stringify(JSON.parse(stored));
}

/** DynamoDB takes no other type for the keys of an index. */
export function isStorable({ attribute, value }: HostileItem): boolean {
  const isIndexed = /^uns(ent|ettled)(Shard|Since)$/.test(attribute);
  return !isIndexed || value === undefined || value.N !== undefined;
}

let items: Awaited<ReturnType<typeof storedItems>> | undefined;

export const stored: Suite<HostileItem> = {
  title: "stored items",
  what: "records of each state with one attribute of another type, version, state, time or content, or without it, read by a caller and by the relay",
  promise:
    "replayed as written, or closed: nothing runs that a record doesn't allow, and nothing but messages is sent",
  inputs: () =>
    (Object.keys(KINDS) as Kind[])
      .flatMap((kind) =>
        MUTATED.flatMap((name) => ODD.map((value) => ({ kind, attribute: ATTRIBUTES[name], value }))),
      )
      .filter(isStorable),
  async judge(input) {
    items ??= await storedItems();
    return items.judge(input);
  },
  close: () => items?.close(),
};
