/** Plays a case of the model's store against a real one, through the Store and Outbox ports alone. */
import { randomUUID } from "node:crypto";
import { identify } from "../../lib/core/identity.ts";
import type { Outbox } from "../../lib/core/outbox.ts";
import type { SettleAnswer, Settlement, Store } from "../../lib/core/store.ts";
import { type Begin, type Finish, toSeeker } from "./model-store.ts";
import { isUnsent, type ModelRecord, NEVER, NO_TOKEN, type Ticks, type Token } from "./state.ts";
import type { Answer, StoreCase, StoreRequest } from "./store-cases.ts";

export interface Ports {
  readonly store: Store<never>;
  readonly outbox: Outbox;
}

/** A whole second, and ahead of the present: a database that deletes by TTL leaves the records alone. */
export const NOW = Math.ceil(Date.now() / 1000) + 3600;
const inSeconds = (ticks: Ticks) => NOW + ticks;
const inMs = (ticks: Ticks) => inSeconds(ticks) * 1000;

export const tokenOf = (token: Token) => `token-${token}`;
export const numberIn = (text = "") => Number(text.match(/\d+/)?.[0] ?? NO_TOKEN);

/** What came of it: how each request was answered, and the record as the model sees one. */
export async function playCase(
  ports: Ports,
  { record, requests }: Pick<StoreCase, "record" | "requests">,
): Promise<{ answers: Answer[]; record: VisibleRecord | undefined }> {
  const { recordKey } = identify("model", "tenant-1", randomUUID());
  if (record) await make(ports.store, recordKey, record);
  const answers: Answer[] = [];
  for (const request of requests) answers.push(await ask(ports, recordKey, request));
  return { answers, record: await read(ports, recordKey) };
}

async function ask({ store, outbox }: Ports, recordKey: string, request: StoreRequest): Promise<Answer> {
  if (request.kind === "claim") {
    const { begin } = request;
    const claim = { recordKey, ...seekerOf(begin), ...timesOf(begin) };
    const answer = await store.claim(claim, seenBy(begin));
    return answer.won ? "done" : numberIn(answer.record?.token);
  }
  if (request.kind === "settle") return settled(await store.settle(settlementOf(recordKey, request.finish)));
  if (request.kind === "insert") {
    const { begin, finish } = request;
    const settlement = settlementOf(recordKey, finish);
    const insertion = {
      ...settlement,
      ...seekerOf(begin),
      state: settlement.state as "completed" | "failed",
    };
    return settled(await store.insert(insertion, seenBy(begin)));
  }
  const unsent = await outbox.load(recordKey);
  if (unsent) await outbox.markSent({ ...unsent, token: tokenOf(request.token) });
  return unsent === undefined ? NO_TOKEN : "done";
}

const settled = (answer: SettleAnswer) => (answer.settled ? "done" : numberIn(answer.record?.token));

/** Of the record that was seen to be expired a store reads the token and the attempt. */
const seenBy = ({ seen }: Begin) => (seen === NO_TOKEN ? undefined : { ...SEEN, token: tokenOf(seen) });

const SEEN = {
  version: 1,
  state: "completed",
  attempt: 1,
  leaseEndsAt: 0,
  fingerprint: "",
  createdAt: 0,
} as const;

/** A record as it looks from outside: when it expires once its messages are sent is not seen before. */
export type VisibleRecord = Omit<ModelRecord, "expiresOnceSentIn"> & { readonly waits: boolean };

export function visible(record: ModelRecord | undefined): VisibleRecord | undefined {
  if (!record) return undefined;
  const { expiresOnceSentIn: _, ...seen } = record;
  return { ...seen, waits: isUnsent(record) };
}

const seekerOf = (begin: Begin) => {
  const { token, fingerprints } = toSeeker(begin);
  return { token, fingerprints, now: inMs(begin.now) };
};

const timesOf = ({ leaseEndsIn, expiresIn }: Pick<Begin, "leaseEndsIn" | "expiresIn">) => ({
  leaseEndsAt: inMs(leaseEndsIn),
  expiresAt: inSeconds(expiresIn),
});

function settlementOf(
  recordKey: string,
  { token, to, commits, expiresIn }: Finish,
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
    messages: commits ? [message] : [],
    ...(to === "completed" && { result: JSON.stringify(text) }),
    ...(to === "failed" && { result: JSON.stringify({ message: text }) }),
  };
}

/** Makes the record as an attempt would. */
export async function make(store: Store<never>, recordKey: string, record: ModelRecord): Promise<void> {
  const { state, token, payload, expiresIn, expiresOnceSentIn } = record;
  const begin = { ...record, seen: NO_TOKEN, now: 0, expiresIn: state === "in-progress" ? expiresIn : 9 };
  await store.claim({ recordKey, ...seekerOf(begin), ...timesOf(begin) });
  if (state === "in-progress") return;
  const waits = isUnsent(record);
  const finish = { token, to: state, commits: waits, protectedFor: 0, payload };
  await store.settle(
    settlementOf(recordKey, { ...finish, expiresIn: waits ? expiresOnceSentIn : expiresIn }),
  );
}

export async function read({ store, outbox }: Ports, recordKey: string): Promise<VisibleRecord | undefined> {
  const found = await store.find(recordKey, { consistent: true });
  if (!found) return undefined;
  const { state, token, attempt, fingerprint, leaseEndsAt, expiresAt, result } = found;
  return {
    state,
    token: numberIn(token),
    attempt,
    payload: numberIn(fingerprint),
    leaseEndsIn: state === "in-progress" ? leaseEndsAt / 1000 - NOW : 0,
    expiresIn: expiresAt === undefined ? NEVER : expiresAt - NOW,
    result: numberIn(result?.in === "record" ? result.text : undefined),
    waits: state === "completed" && (await outbox.load(recordKey)) !== undefined,
  };
}
