// The handlers, one for each job. Their commits are counted by row and by number; their answers name their run.
import { GetCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import {
  type Execution,
  isOnceonlyError,
  type OutgoingMessage,
  PermanentError,
  type TransactionConditionError,
} from "onceonly";
import type { DynamoDBWrite } from "onceonly/dynamodb";
import { systemClock } from "../../../../../lib/core/clock.ts";
import type { Ask, Word } from "../asking.ts";
import type { Job, Variant } from "../variants.ts";
import type { World } from "./world.ts";

/** A handler's answer, before its adapter formats it. */
export interface Said {
  readonly says: Extract<Word, "done" | "declined" | "sold-out" | "exists">;
  readonly run: number;
  readonly key: string;
  readonly owner?: string;
  readonly filling?: string;
}

export interface Hand {
  readonly ask: Ask;
  readonly variant: Variant;
  readonly world: World;
  readonly execution: Execution<DynamoDBWrite>;
  /** Called when the commit begins. */
  readonly onCommit: () => void;
  /** Gives an answer the form that the adapter wants. */
  readonly form: (said: Said) => unknown;
}

/** The handler's own error, which is not final. */
export class HandlerFailure extends Error {
  readonly says: "failed" | "failed-after";

  constructor(says: HandlerFailure["says"]) {
    super(`the handler ${says}`);
    this.says = says;
  }
}

export async function handle(hand: Hand): Promise<unknown> {
  const { ask, form } = hand;
  const { fate, beforeMs, afterMs } = ask.mood;
  await systemClock.sleep(beforeMs);
  if (fate === "fail") throw new HandlerFailure("failed");
  if (fate === "refuse") throw new PermanentError(`refused by run ${ask.id}`);
  if (fate === "decline") return form(saying(hand, "declined"));
  let hasCommitted = false;
  const onCommitted = () => {
    hasCommitted = true;
  };
  const result = await JOBS[hand.variant.job]({ ...hand, onCommitted });
  await systemClock.sleep(afterMs);
  if (fate === "fail-after") throw new HandlerFailure(hasCommitted ? "failed-after" : "failed");
  return result;
}

interface Working extends Hand {
  readonly onCommitted: () => void;
}

const JOBS: Readonly<Record<Job, (hand: Working) => Promise<unknown>>> = {
  order: (hand) => commit(hand, []),

  async account(hand) {
    const { ask, world, variant, form } = hand;
    const Key = { pk: ask.input.name, sk: "account" };
    if (variant.readsFirst) {
      const { Item } = await world.documents.send(
        new GetCommand({ TableName: world.effects, Key, ConsistentRead: true }),
      );
      if (Item) return form(saying(hand, "exists", String(Item.owner)));
    }
    return commit(hand, [
      {
        Put: {
          TableName: world.effects,
          Item: { ...Key, owner: ask.input.key },
          // The name is free.
          ConditionExpression: "attribute_not_exists(pk)",
          ReturnValuesOnConditionCheckFailure: "ALL_OLD",
        },
      },
    ]);
  },

  stock: (hand) =>
    commit(hand, [
      {
        Update: {
          TableName: hand.world.effects,
          Key: { pk: hand.ask.input.name, sk: "stock" },
          UpdateExpression: "ADD n :sold",
          // There is a piece left.
          ConditionExpression: "n > :none",
          ExpressionAttributeValues: { ":sold": -1, ":none": 0 },
        },
      },
    ]),

  async outside({ ask, world, execution, form, ...hand }) {
    const sk = execution.childKey("outside");
    const Item = { pk: `outside ${ask.input.key}`, sk };
    await world.documents.send(new PutCommand({ TableName: world.effects, Item }));
    return form(saying({ ask, ...hand }, "done"));
  },

  answer: async (hand) => hand.form(saying(hand, "done")),
};

/** Commits this run's row and counts it, with everything that belongs to it. */
async function commit(hand: Working, others: readonly DynamoDBWrite[]): Promise<unknown> {
  const { ask, world, execution, form, variant } = hand;
  const { key } = ask.input;
  const TableName = world.effects;
  const counting = { UpdateExpression: "ADD n :one", ExpressionAttributeValues: { ":one": 1 } };
  const writes: DynamoDBWrite[] = [
    ...others,
    { Put: { TableName, Item: { pk: key, sk: `run ${ask.id}` } } },
    { Update: { TableName, Key: { pk: key, sk: "count" }, ...counting } },
  ];
  const messages = variant.sends ? messagesOf(hand) : [];
  try {
    hand.onCommit();
    const result = await execution.commit(form(saying(hand, "done")), { writes, messages });
    hand.onCommitted();
    return result;
  } catch (error) {
    if (!variant.answersRefusals || !isRefusedCondition(error)) throw error;
    const owner = error.item?.owner;
    return form(owner === undefined ? saying(hand, "sold-out") : saying(hand, "exists", String(owner)));
  }
}

/** One for each queue. */
function messagesOf({ ask, world }: Hand): OutgoingMessage[] {
  const { key } = ask.input;
  return Object.entries(world.queues).map(([name, queue]) => ({
    queue,
    key: `${key}/${name}`,
    group: key,
    body: { subject: key, run: ask.id },
  }));
}

function isRefusedCondition(error: unknown): error is TransactionConditionError {
  return isOnceonlyError(error) && error.code === "TRANSACTION_CONDITION";
}

function saying({ ask }: Pick<Hand, "ask">, says: Said["says"], owner?: string): Said {
  const filling = ask.mood.bytes > 0 && says === "done" ? { filling: fillingOf(ask) } : {};
  return { says, run: ask.id, key: ask.input.key, ...(owner !== undefined && { owner }), ...filling };
}

/** Text that does not compress to nothing. */
function fillingOf({ id, mood }: Ask): string {
  let state = id;
  const parts: string[] = [];
  for (let bytes = 0; bytes < mood.bytes; bytes += 6) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    parts.push(state.toString(36).slice(-6).padStart(6, "0"));
  }
  return parts.join("");
}
