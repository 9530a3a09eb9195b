/** Plays a case of the model's store against a real one, through the Store and Outbox ports only. */
import { randomUUID } from "node:crypto";
import { hasCode } from "../../../lib/core/error-code.ts";
import { identify } from "../../../lib/core/identity.ts";
import type { Outbox } from "../../../lib/core/messages/outbox.ts";
import type { IdempotencyRecord } from "../../../lib/core/record.ts";
import type { Claim, SettleAnswer, Settlement, Store } from "../../../lib/core/store.ts";
import type { Mark, MarkName, Marks } from "./marks.ts";
import type { Begin, Finish } from "./model-store.ts";
import { isUnsent, type ModelRecord, NEVER, NO_TOKEN, type Seen, type Ticks, type Token } from "./state.ts";
import { type Answer, ME, type StoreCase, type StoreRequest } from "./store-cases.ts";

export interface Ports<Write = unknown> {
  readonly store: Store<Write>;
  /** Without one nothing waits in the records. */
  readonly outbox?: Outbox;
  readonly rows: Rows<Write>;
  /** In the store's database. */
  remove(recordKey: string): Promise<void>;
}

/** Business items, each with its own name. */
export interface Rows<Write> {
  /** Inserts the row, if it is not there. */
  insertion(name: string): Write;
  /** Inserts the row, or counts one more. */
  increment(name: string): Write;
  put(name: string): Promise<void>;
  count(name: string): Promise<number>;
  delete(name: string): Promise<void>;
}

/** A whole second, and ahead of the present: a database that deletes by TTL leaves the records alone. */
export const NOW = Math.ceil(Date.now() / 1000) + 3600;
const inSeconds = (ticks: Ticks) => NOW + ticks;
const inMs = (ticks: Ticks) => inSeconds(ticks) * 1000;

export const tokenOf = (token: Token) => `token-${token}`;
export const numberIn = (text = "") => Number(text.match(/\d+/)?.[0] ?? NO_TOKEN);

/** The outcome: the result of each request, the record as the model sees one, and whether the row exists. */
export async function playCase<Write>(
  ports: Ports<Write>,
  { record, isTaken, requests }: Omit<StoreCase, "expected">,
): Promise<{ answers: Answer[]; record: VisibleRecord | undefined; isTaken: boolean }> {
  const name = randomUUID();
  const { recordKey } = identify("model", "tenant-1", name);
  if (record) await make(ports, recordKey, record);
  if (isTaken) await ports.rows.put(name);
  const answers: Answer[] = [];
  for (const request of requests) {
    answers.push(
      await ask(ports, recordKey, name, request).catch((error: unknown) => {
        if (hasCode(error, "TRANSACTION_CONDITION")) return "condition";
        throw error;
      }),
    );
  }
  return { answers, record: await read(ports, recordKey), isTaken: (await ports.rows.count(name)) > 0 };
}

async function ask<Write>(
  { store, outbox, rows }: Ports<Write>,
  recordKey: string,
  name: string,
  request: StoreRequest,
): Promise<Answer> {
  if (request.kind === "claim") {
    const { begin } = request;
    const answer = await store.claim(claimOf(recordKey, begin), seenRecord(begin.seen));
    return answer.won ? "done" : numberIn(answer.record?.token);
  }
  if (request.kind === "renew") {
    const { token, leaseEndsIn, expiresIn } = request.renewal;
    const expiresAt = expiresIn === NEVER ? undefined : inSeconds(expiresIn);
    const ends = { leaseEndsAt: inMs(leaseEndsIn), expiresAt };
    const answer = await store.renew({ recordKey, token: tokenOf(token), ...ends });
    return answer.renewed ? "done" : numberIn(answer.record?.token);
  }
  if (request.kind === "mark") {
    const unsent = await outbox?.load(recordKey);
    if (unsent) await outbox?.markSent({ ...unsent, token: tokenOf(request.token) });
    return unsent === undefined ? NO_TOKEN : "done";
  }
  if (request.kind === "step") {
    const before = (await store.find(recordKey, { consistent: true }))?.steps;
    const { name, write } = request;
    return settled(
      await writeMark(store, recordKey, ME, name, write.mark, write.seen, !before && !write.seen),
    );
  }
  const { finish } = request;
  const writes = finish.commits === "conditional" ? [rows.insertion(name)] : [];
  const settlement = { ...settlementOf(recordKey, finish, outbox !== undefined), writes };
  if (request.kind === "settle") return settled(await store.settle(settlement));
  const { begin } = request;
  const state = settlement.state as "completed" | "failed";
  const insertion = { ...claimOf(recordKey, begin), ...settlement, state };
  return settled(await store.insert(insertion, seenRecord(begin.seen)));
}

const settled = (answer: SettleAnswer) => (answer.settled ? "done" : numberIn(answer.record?.token));

/** Marks carry tokens for attempts: a store only compares them. */
async function writeMark<Write>(
  store: Store<Write>,
  recordKey: string,
  token: Token,
  name: MarkName,
  mark: Mark,
  seen?: Mark,
  isFirst = true,
): Promise<SettleAnswer> {
  const stored = ({ state, attempt, at }: Mark) => ({ state, attempt, at });
  const about = { recordKey, token: tokenOf(token), name, isFirst, leaseEndsAt: inMs(0), writes: [] };
  const step = { step: stored(mark), seen: seen && stored(seen), resultExpiresAt: inSeconds(9) };
  return (store.writeStep as NonNullable<Store<Write>["writeStep"]>).call(store, { ...about, ...step });
}

/** A store reads these three fields of the record that was seen. */
const seenRecord = (seen: Seen | undefined) =>
  seen &&
  ({
    token: tokenOf(seen.token),
    state: seen.state,
    leaseEndsAt: inMs(seen.leaseEndsIn) + seen.writes,
  } as IdempotencyRecord);

/** A record as it looks from outside: when it expires once its messages are sent is not seen before. */
export type VisibleRecord = Omit<ModelRecord, "expiresOnceSentIn"> & { readonly waits: boolean };

export function visible(record: ModelRecord | undefined): VisibleRecord | undefined {
  if (!record) return undefined;
  const { expiresOnceSentIn: _, ...seen } = record;
  return { ...seen, waits: isUnsent(record) };
}

const marksOf = (steps: Readonly<Record<string, Pick<Mark, "state" | "attempt" | "at">>>): Marks =>
  Object.fromEntries(
    Object.entries(steps).map(([name, { state, attempt, at }]) => [name, { state, attempt, at, count: 0 }]),
  );

function claimOf(
  recordKey: string,
  { token, payload, seen, isSameAttempt, leaseEndsIn, expiresIn }: Begin,
): Claim {
  return {
    recordKey,
    token: tokenOf(token),
    fingerprint: `payload-${payload}`,
    attempt: (seen?.attempt ?? 0) + (isSameAttempt ? 0 : 1),
    createdAt: inMs(0),
    keepsSteps: !seen?.isExpired,
    leaseEndsAt: inMs(leaseEndsIn),
    expiresAt: inSeconds(expiresIn),
  };
}

function settlementOf(
  recordKey: string,
  { token, to, commits, expiresIn }: Finish,
  sends: boolean,
): Settlement<never> & { expiresAt: number } {
  const message = {
    queue: "https://sqs.us-east-1.amazonaws.com/000000000000/orders",
    key: "order-1",
    body: "{}",
  };
  const text = tokenOf(token);
  return {
    recordKey,
    token: tokenOf(token),
    now: inMs(0),
    state: to,
    expiresAt: inSeconds(expiresIn),
    writes: [],
    dropsSteps: to === "completed" || to === "failed",
    messages: commits && sends ? [message] : [],
    ...(to === "completed" && { result: JSON.stringify(text) }),
    ...(to === "failed" && { result: JSON.stringify({ message: text }) }),
  };
}

/** Makes the record as an attempt would. */
export async function make<Write>(
  { store, outbox }: Pick<Ports<Write>, "store" | "outbox">,
  recordKey: string,
  record: ModelRecord,
): Promise<void> {
  const { state, expiresIn, expiresOnceSentIn, marks, token } = record;
  const isClaim = state === "in-progress";
  const begin = { ...record, seen: undefined, isSameAttempt: false, now: 0 };
  await store.claim(claimOf(recordKey, { ...begin, expiresIn: isClaim ? expiresIn : 9 }));
  for (const [index, [name, mark]] of Object.entries(marks).entries())
    await writeMark(store, recordKey, token, name as MarkName, mark, undefined, index === 0);
  if (isClaim) return;
  const waits = isUnsent(record);
  const finish = { token: record.token, to: state, commits: waits && ("commit" as const), protectedFor: 0 };
  await store.settle(
    settlementOf(
      recordKey,
      { ...finish, expiresIn: waits ? expiresOnceSentIn : expiresIn },
      outbox !== undefined,
    ),
  );
}

export async function read<Write>(
  { store, outbox }: Pick<Ports<Write>, "store" | "outbox">,
  recordKey: string,
): Promise<VisibleRecord | undefined> {
  const found = await store.find(recordKey, { consistent: true });
  if (!found) return undefined;
  const { state, token, attempt, fingerprint, leaseEndsAt, expiresAt, result, steps = {} } = found;
  const isClaim = state === "in-progress";
  return {
    state,
    token: numberIn(token),
    attempt,
    payload: numberIn(fingerprint),
    leaseEndsIn: isClaim ? Math.floor(leaseEndsAt / 1000) - NOW : 0,
    expiresIn: expiresAt === undefined ? NEVER : expiresAt - NOW,
    result: numberIn(result?.in === "record" ? result.text : undefined),
    marks: marksOf(steps),
    writes: leaseEndsAt % 1000,
    waits: state === "completed" && (await outbox?.load(recordKey)) !== undefined,
  };
}
