/** `onceonly trace`: the whole life of one key as a tree, from its request to the records of its messages' consumers. */
import { bucketOf, type IdempotencyRecord, identify, PUBLIC_SCOPE } from "onceonly/kit";
import { type CliCommand, type OptionValues, wholeNumber } from "./command.ts";
import { textOf } from "./find.ts";
import { KEY_OPTIONS, KEY_USAGE, noRecord, recordKeyIn } from "./named-key.ts";
import type { OpenTable } from "./open-table.ts";
import { describeRecord, type RecordReport, toneOf } from "./record-lines.ts";
import { openTable, TABLE_OPTIONS, TABLE_USAGE } from "./table.ts";
import { deadLetterBranch, type QueueTrace, queueBranch, traceQueues } from "./trace-queues.ts";
import { recordBranches, statusOf } from "./trace-record.ts";
import { type TraceBranch, treeLines } from "./tree.ts";

const DEFAULT_PEEK = "3";
const MAX_PEEK = 20;

export const trace: CliCommand = {
  usage: `usage: onceonly trace <key> [options]

Prints the life of a key as a tree: the request, attempts, steps and sagas, the last verdict, unsent messages and their queues,
dead letters and redrives, and the records of consumers. Deletes nothing, and prints neither keys nor payloads. The exit
status is 1 if there's no record.
${KEY_USAGE}
  --consumer <operation>      a consumer's operation, may be repeated: prints its record for each message key
  --consumer-scope <owner>    the owner of the consumers' keys (default: none)
  --message-key <key>         the key of a message, may be repeated (default: those of unsent messages, else the idempotency key itself)
  --queue <URL>               a queue of its messages, may be repeated (default: those of unsent messages)
  --dlq <URL>                 a dead-letter queue, may be repeated (default: those of the queues)
  --peek <requests>           how many receives of ten dead letters to make; hides them for 5 s, deletes none (default ${DEFAULT_PEEK}, 0 to ${MAX_PEEK})${TABLE_USAGE}`,
  options: {
    ...TABLE_OPTIONS,
    ...KEY_OPTIONS,
    consumer: { type: "string", multiple: true },
    "consumer-scope": { type: "string" },
    "message-key": { type: "string", multiple: true },
    queue: { type: "string", multiple: true },
    dlq: { type: "string", multiple: true },
    peek: { type: "string", default: DEFAULT_PEEK },
  },
  async run({ values, positionals, terminal }) {
    const recordKey = recordKeyIn({ values, positionals });
    // A record key doesn't contain the key that its messages may have.
    const named = values.operation === undefined ? [] : positionals;
    const requests = wholeNumber(values, "peek", 0, MAX_PEEK);
    const table = await openTable(values);
    try {
      const now = terminal.clock.now();
      const own = await readTrace(table, recordKey);
      const messageKeys = [...new Set(given(values, "message-key") ?? own?.messageKeys ?? named)];
      const urls = given(values, "queue") ?? own?.queues ?? [];
      const queues = await traceQueues(values, [...new Set(urls)], given(values, "dlq") ?? [], requests);
      const consumers = await consumersOf(table, values, messageKeys);
      if (values.json) {
        const { queues: _, messageKeys: __, ...record } = own ?? { recordKey, state: "absent" as const };
        terminal.print(JSON.stringify({ ...record, ...jsonOf(queues, messageKeys), consumers }));
      } else {
        const branches = [
          ...(own ? recordBranches(own, own.status, now) : [{ line: noRecord({ values, positionals }) }]),
          ...queues.queues.map(queueBranch),
          ...queues.deadLetters.map((each) => deadLetterBranch(each, messageKeys, now)),
          ...consumers.map((each) => consumerBranch(each, now)),
        ];
        terminal.print(recordKey);
        terminal.print(own ? `${own.state}, attempt ${own.attempt}` : "absent", own && toneOf(own.state));
        for (const line of treeLines(branches)) terminal.print(line);
      }
      return own ? 0 : 1;
    } finally {
      table.close();
    }
  },
};

function given(values: OptionValues, name: string): readonly string[] | undefined {
  const value = values[name];
  return Array.isArray(value) ? value : undefined;
}

type TracedRecord = RecordReport & {
  /** What callers were answered over HTTP. */
  readonly status?: number | undefined;
  /** The keys of messages that are not sent. */
  readonly messageKeys?: readonly string[];
  readonly queues?: readonly string[];
};

async function readTrace(table: OpenTable, recordKey: string): Promise<TracedRecord | undefined> {
  const record = await table.store.find(recordKey, { consistent: true });
  return record && traceOf(table, recordKey, record);
}

/** What the tree of one record is made of. */
export async function traceOf(
  { store, outbox }: OpenTable,
  recordKey: string,
  record: IdempotencyRecord,
): Promise<TracedRecord> {
  const hasEnded = record.state === "completed" || record.state === "failed";
  const unsent = hasEnded ? await outbox.load(recordKey) : undefined;
  // Not from a bucket: it may be large, and only its status is shown.
  const isNear = record.state === "completed" && !bucketOf(record.result);
  const status = isNear ? statusOf(await textOf(record.result, store)) : undefined;
  return {
    ...describeRecord(recordKey, record, unsent),
    ...(status !== undefined && { status }),
    ...(unsent && {
      messageKeys: unsent.messages.map((message) => message.key),
      queues: unsent.messages.flatMap(({ queue }) => queue ?? []),
    }),
  };
}

interface ConsumerTrace {
  readonly operation: string;
  readonly recordKey: string;
  readonly record?: TracedRecord;
}

function consumersOf(
  table: OpenTable,
  values: OptionValues,
  messageKeys: readonly string[],
): Promise<readonly ConsumerTrace[]> {
  const scope = `${values["consumer-scope"] ?? PUBLIC_SCOPE}`;
  const asked = (given(values, "consumer") ?? []).flatMap((operation) =>
    messageKeys.map((key) => identify(operation, scope, key)),
  );
  return Promise.all(
    asked.map(async ({ operation, recordKey }) => {
      const found = await readTrace(table, recordKey);
      if (!found) return { operation, recordKey };
      const { messageKeys: _, queues: __, ...record } = found;
      return { operation, recordKey, record };
    }),
  );
}

function consumerBranch({ operation, recordKey, record }: ConsumerTrace, now: number): TraceBranch {
  if (!record) return { line: `consumer ${operation}: no record of ${recordKey}, so it hasn't started` };
  const { state, attempt } = record;
  const line = `consumer ${operation}: ${state}, attempt ${attempt}, ${recordKey}`;
  return { line, below: recordBranches(record, record.status, now) };
}

/** Keys are business data, so a message only shows whether it belongs to this operation. */
function jsonOf({ queues, deadLetters }: QueueTrace, messageKeys: readonly string[]) {
  return {
    queues,
    deadLetters: deadLetters.map(({ messages = [], ...about }) => ({
      ...about,
      messages: messages.map(({ key, ...message }) => ({
        ...message,
        isOurs: key !== undefined && messageKeys.includes(key),
      })),
    })),
  };
}
