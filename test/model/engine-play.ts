/** Plays a call of the real engine, over MemoryStore: which requests it makes, what it answers, and what it leaves. */
import { perform } from "../../lib/core/engine.ts";
import { hasCode } from "../../lib/core/error-code.ts";
import { PermanentError } from "../../lib/core/errors.ts";
import type { Execution } from "../../lib/core/execution.ts";
import { identify } from "../../lib/core/identity.ts";
import { type EngineOptions, resolveOptions } from "../../lib/core/options.ts";
import { resultOf } from "../../lib/core/refusal.ts";
import type { Store } from "../../lib/core/store.ts";
import { fakeClock, MemoryStore } from "../../lib/testing/index.ts";
import { intercepted, unreachable } from "../core/world.ts";
import type { Bounds } from "./bounds.ts";
import { type EngineCase, isPatient } from "./engine-cases.ts";
import { NO_TOKEN, type Token } from "./state.ts";
import { ME } from "./store-cases.ts";
import { make, NOW, numberIn, read, tokenOf, type VisibleRecord } from "./store-play.ts";
import { SMALLEST } from "./suites.ts";

export interface Played {
  /** Polls count as one. */
  readonly requests: readonly string[];
  /** Whose result or final error the caller gets. */
  readonly answer: Token;
  /** The fencing number that its handler gets, if that runs. */
  readonly fencingNumber: number | undefined;
  readonly record: VisibleRecord | undefined;
}

export const BOUNDS: Bounds = { ...SMALLEST, workTicks: 2, graceTicks: 1, senders: 1 };

const OPTIONS: Record<EngineCase["call"], Partial<EngineOptions<never>>> = {
  claimed: {},
  "claimed, effects outside": {},
  patient: { whenInProgress: { waitSeconds: 1 } },
  optimistic: { mode: "optimistic" },
  "without a look": { mode: "optimistic", lookFirst: false },
  "fail-open": { whenStoreFails: "run" },
};

const MESSAGE = {
  queue: "https://sqs.us-east-1.amazonaws.com/000000000000/orders",
  key: "order-1",
  body: "{}",
};

export async function playEngine(each: EngineCase): Promise<Played> {
  const { call, record, end, fault, others } = each;
  const memory = new MemoryStore();
  const store = memory as Store<unknown> as Store<never>;
  const identity = identify("model", "tenant-1", "key-1");
  const { recordKey } = identity;
  if (record) await make(store, recordKey, record);
  const clock = fakeClock(NOW * 1000);
  const requests: string[] = [];
  let fencingNumber: number | undefined;
  let answer = NO_TOKEN;

  const leaveToOthers = async () => {
    memory.alter(recordKey, undefined);
    if (others) await make(store, recordKey, others);
  };

  const watched = intercepted(store, async (method, request) => {
    const isPoll = isPatient(each) && method === "find";
    if (isPoll && requests.at(-1) === "find") return request();
    if (isPoll) await leaveToOthers();
    requests.push(method);
    if (fault?.at !== requests.length) return request();
    if (fault.kind !== "not applied") await request();
    if (fault.kind === "applied twice") return request();
    throw unreachable();
  });

  const work = async ({ attempt, signal, commit }: Execution<never>) => {
    fencingNumber = attempt;
    if (others !== undefined && !isPatient(each)) await leaveToOthers();
    else await clock.sleep(1000 - (clock.now() % 1000));
    if (end === "makes its commit") return commit(tokenOf(ME), { messages: [MESSAGE] });
    if (end === "has its effect") return tokenOf(ME);
    if (end === "fails for good") throw new PermanentError(tokenOf(ME));
    if (end === "is aborted near its deadline, and works on")
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    throw new Error("try again");
  };

  const options = resolveOptions<never>({
    operation: "model",
    store: watched,
    retentionSeconds: BOUNDS.retentionTicks,
    clockSkewSeconds: BOUNDS.graceTicks,
    clock,
    random: { token: () => tokenOf(ME), fraction: () => 0 },
    ...OPTIONS[call],
  });
  const about = { identity, fingerprints: ["payload-0"], remainingMs: BOUNDS.workTicks * 1000 };
  try {
    answer = numberIn(resultOf(await clock.run(perform(options, about, work))) as string);
  } catch (error) {
    if (hasCode(error, "PERMANENT")) answer = numberIn(error.message);
  }
  return { requests, answer, fencingNumber, record: await read({ store, outbox: memory.outbox }, recordKey) };
}
