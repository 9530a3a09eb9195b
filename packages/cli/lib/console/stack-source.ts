/** A console on the stacks of a local run: all records of their tables, their queues, and the decisions of their functions. */
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { type Clock, namesOf } from "onceonly/kit";
import type { RunningStack } from "onceonly-local";
import { UsageError } from "../command.ts";
import type { OpenTable } from "../open-table.ts";
import { scanPage } from "../scan.ts";
import { openTable } from "../table.ts";
import type { Breakage } from "./breakage.ts";
import type { Act, AskedKey, ConsoleSource } from "./console-source.ts";
import type { DecisionFeed } from "./decision-feed.ts";
import { actOnGroup } from "./group-acts.ts";
import { actOnKey } from "./key-acts.ts";
import { keyQuestions, recordKeyIn } from "./key-questions.ts";
import { knownKeys } from "./known-keys.ts";
import type { ConsoleLook, FoundKey, RecordRow } from "./look.ts";
import { ownerErasure } from "./owner-erasure.ts";
import { askSqs, queueCounts } from "./queue-counts.ts";
import { type ListsLook, lookAtLists, recordRow } from "./table-records.ts";
import { shapeOf, type TableShape } from "./table-shape.ts";

export interface StackSourceOptions {
  readonly stack: RunningStack;
  /** What is run, for the title. */
  readonly title: string;
  readonly decisions: DecisionFeed;
  readonly breakage: Breakage;
  readonly clock: Clock;
}

export interface StackSource extends ConsoleSource {
  close(): void;
}

interface LookedAt {
  readonly path: string;
  readonly name: string;
  readonly shape: TableShape;
  open: OpenTable;
  /** What records have as their sort key, once one was seen. */
  sortValue: string | undefined;
}

const REFRESH_MS = 1000;
const NOTHING: ListsLook = {
  groups: [],
  rows: [],
  outbox: { waiting: 0, parked: 0 },
  hasMore: false,
  problems: [],
};

export function stackSource({ stack, title, decisions, breakage, clock }: StackSourceOptions): StackSource {
  const known = knownKeys();
  const opened = new Map<string, Promise<LookedAt>>();
  const erasure = ownerErasure(known, openTables, clock);

  const reach = (name: string, { partitionKey, sortKey }: Partial<TableShape> = {}, sortValue?: string) =>
    openTable({
      table: name,
      endpoint: stack.endpoints.dynamodb,
      ...(partitionKey !== undefined && { "partition-key": partitionKey }),
      ...(sortValue !== undefined && { "sort-key": `${sortKey}=${sortValue}` }),
    });

  async function open(path: string, name: string): Promise<LookedAt> {
    const first = await reach(name);
    try {
      const shape = await shapeOf(clientOf(first), name);
      return { path, name, shape, open: await reach(name, shape), sortValue: undefined };
    } finally {
      first.close();
    }
  }

  /** If one can't be opened, the next call tries again. */
  function openedAt(path: string, name: string): Promise<LookedAt> {
    const former = opened.get(path);
    if (former) return former;
    const table = open(path, name);
    opened.set(path, table);
    table.catch(() => opened.delete(path));
    return table;
  }

  async function lookAt(table: LookedAt, at: number) {
    const { path, name, shape } = table;
    const { sortKey } = shape;
    const { records, sortValue, next } = await scanPage(table.open, { consistent: true, sortKey });
    if (sortValue !== undefined && sortValue !== table.sortValue) {
      table.open.close();
      table.open = await reach(name, shape, sortValue);
      table.sortValue = sortValue;
    }
    const remember = (recordKey: string) => known.remember(table.open, recordKey);
    for (const { recordKey } of records) remember(recordKey);
    const isReadable = sortKey === undefined || table.sortValue !== undefined;
    const lists = isReadable ? await lookAtLists(table.open, path, at, remember, shape.lists) : NOTHING;
    const rows = records.map((record) => recordRow(path, record, at));
    return { lists, hasMore: next !== undefined || lists.hasMore, rows };
  }

  /** The tables of records that can be read. */
  async function openTables(): Promise<readonly OpenTable[]> {
    const tables = Object.entries(stack.tables).map(([path, { name }]) => openedAt(path, name));
    return (await Promise.allSettled(tables)).flatMap((table) => {
      if (table.status === "rejected") return [];
      const { open, shape, sortValue } = table.value;
      return shape.sortKey !== undefined && sortValue === undefined ? [] : open;
    });
  }

  async function find(asked: AskedKey): Promise<FoundKey> {
    const recordKey = recordKeyIn(asked);
    const { keyHash } = namesOf(recordKey);
    for (const table of await openTables()) {
      known.remember(table, recordKey);
      if (await table.store.find(recordKey, { consistent: true })) return { keyHash };
    }
    return { keyHash, isAbsent: true };
  }

  async function look(): Promise<Omit<ConsoleLook, "mayWrite">> {
    const at = clock.now();
    const problems: string[] = [];
    const looks = await Promise.all(
      Object.entries(stack.tables).map(async ([path, { name }]) => {
        try {
          return await lookAt(await openedAt(path, name), at);
        } catch (error) {
          problems.push(`${path}: ${(error as Error).message}`);
          return { lists: NOTHING, hasMore: false, rows: [] as RecordRow[] };
        }
      }),
    );
    const sum = (state: "waiting" | "parked") =>
      looks.reduce((total, { lists }) => total + lists.outbox[state], 0);
    return {
      title,
      at,
      refreshMs: REFRESH_MS,
      records: looks.flatMap(({ rows }) => rows),
      areAllRecords: true,
      hasMore: looks.some(({ hasMore }) => hasMore),
      groups: looks.flatMap(({ lists }) => lists.groups),
      outbox: { waiting: sum("waiting"), parked: sum("parked") },
      problems,
      local: {
        queues: await queueCounts(stack),
        decisions: decisions.look(),
        breakage: breakage.look(stack),
      },
    };
  }

  /** Dead letters go back to where they came from. Their envelopes stay. */
  async function redrive({ act, path }: Act) {
    if (act !== "redrive") return undefined;
    const queue = Object.entries(stack.queues).find(([each]) => each === path)?.[1];
    if (!queue) throw new UsageError("no such queue");
    await askSqs(stack.endpoints.sqs, "StartMessageMoveTask", { SourceArn: queue.arn });
    return { done: true, message: `Sending the messages of ${path} back.` };
  }

  return {
    ...keyQuestions(known, clock),
    owned: erasure.owned,
    look,
    find,
    async act(act) {
      const answer =
        (await breakage.act(stack, act)) ??
        (await redrive(act)) ??
        (await erasure.act(act)) ??
        (await actOnKey(act, known, clock)) ??
        (act.group === undefined ? undefined : await actOnGroup(act, (await look()).groups, known, clock));
      if (answer) return answer;
      throw new UsageError(`the action "${act.act}" isn't available in a local run`);
    },
    close() {
      for (const table of opened.values()) table.then(({ open }) => open.close()).catch(() => undefined);
    },
  };
}

/** The one that `openTable` has made. */
const clientOf = ({ storeOptions }: OpenTable) => storeOptions.client as DynamoDBClient;
