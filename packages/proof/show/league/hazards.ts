// What happens in each library's own store when a process dies, the store goes away or loses an answer, a result is large, a
// record has expired, and a key comes back for another operation.
import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import type { Wish } from "./orders.ts";
import { isSuccess, post, type Reply } from "./send.ts";
import type { Stage } from "./stage.ts";

export const HAZARDS = {
  killed: "killed after the effect",
  claimLost: "answer to the claim lost",
  resultLost: "answer to the result's write lost",
  large: "result of 1 MB",
  otherRoute: "the key on another route",
  expired: "the record expired",
  away: "store away at the claim",
} as const;

export interface Outcome {
  readonly says: string;
  /** A caller that did nothing but retry had its effect twice, or got another operation's response. */
  readonly isHarm: boolean;
}
export type Outcomes = Readonly<Record<keyof typeof HAZARDS, Outcome | undefined>>;

export const RETENTION_SECONDS = 60;
const LARGE = 1_000_000;
/** What a library does with the first retry. */
const SOON_MS = 5000;

const outcome = (says: string, isHarm = false): Outcome => ({ says, isHarm });

/** What a caller sees that sends its request, and sends it again when it has its answer. */
async function twice({ url, orders }: Stage, key: string, wish: Wish): Promise<Outcome> {
  const before = orders.count();
  const first = await post(`${url}/orders`, key, wish);
  const second = await post(`${url}/orders`, key, wish);
  return pair(first, second, orders.count() - before);
}

function pair(first: Reply, second: Reply, effects: number): Outcome {
  const replayed = isSuccess(first) && first.body === second.body;
  const says = `${nameOf(first)}, then ${replayed ? "the same" : nameOf(second)}`;
  return outcome(effects === 1 ? says : `${says}; ${effects} effects`, effects > 1);
}

const nameOf = ({ status }: Reply) => (status === 0 ? "no response" : `${status}`);

/** On a store of which records live as long as they do by default. The last trial takes the store away for good. */
export async function playHazards(stage: Stage): Promise<Partial<Outcomes>> {
  const { url, orders, proxy } = stage;
  const { claimHas } = stage.contestant;
  await post(`${url}/orders`, randomUUID());

  const large = await twice(stage, randomUUID(), { size: LARGE });
  const key = randomUUID();
  const order = await post(`${url}/orders`, key);
  const before = orders.count();
  const refund = await post(`${url}/refunds`, key);
  const isMixed = isSuccess(refund) && orders.count() === before;
  const otherRoute = isMixed
    ? outcome("gets the order's response", true)
    : outcome(isSuccess(refund) ? "has its own effect" : `refused with ${nameOf(refund)}`);
  if (!isSuccess(order)) throw new Error(`a valid request got ${order.status}`);
  if (!proxy) return { large, otherRoute };

  const claimKey = randomUUID();
  let isHit = false;
  const claimCut = proxy.cutAt(claimHas ? claimKey : 1, "answer").then(() => {
    isHit = true;
  });
  const claimLost = await twice(stage, claimKey, {});
  if (isHit) await claimCut;
  proxy.heal();
  const wasClaimCut = isHit;

  const tag = randomUUID();
  isHit = false;
  void orders.nextOrder().then(() =>
    proxy.cutAt(tag, "answer").then(() => {
      isHit = true;
    }),
  );
  const resultLost = await twice(stage, randomUUID(), { tag });
  proxy.heal();
  const wasResultCut = isHit;

  proxy.close();
  const effects = orders.count();
  const refused = await post(`${url}/orders`, randomUUID(), {}, 15_000);
  const ran = orders.count() - effects;
  const away = outcome(
    ran > 0 ? "runs unprotected" : refused.status === 0 ? "no response for 15 s" : `${refused.status}`,
    ran > 0,
  );
  return {
    ...{ large, otherRoute, away },
    claimLost: wasClaimCut ? claimLost : undefined,
    resultLost: wasResultCut ? resultLost : undefined,
  };
}

/** On a store whose records live for RETENTION_SECONDS, where the library has such a setting. */
export async function playTime(stage: Stage): Promise<Partial<Outcomes>> {
  const { orders } = stage;
  const old = randomUUID();
  await post(`${stage.url}/orders`, old);
  const oldUntil = Date.now() + (RETENTION_SECONDS + 5) * 1000;

  const key = randomUUID();
  const wish = { hang: key };
  const before = orders.count();
  const made = orders.nextOrder();
  const first = post(`${stage.url}/orders`, key, wish, 100_000);
  await made;
  const killedAt = Date.now();
  await stage.restart();
  const restartedAt = Date.now();
  await first;
  const refusals = new Set<string>();
  let last: Reply;
  for (;;) {
    last = await post(`${stage.url}/orders`, key, wish, 90_000);
    if (isSuccess(last) || Date.now() > killedAt + (RETENTION_SECONDS + 30) * 1000) break;
    refusals.add(nameOf(last));
    await setTimeout(500);
  }
  const seconds = Math.round((Date.now() - killedAt) / 1000);
  const effects = orders.count() - before;
  const isSoon = refusals.size === 0 && Date.now() < restartedAt + SOON_MS;
  const when = isSoon ? "with the first retry" : `after ${seconds} s`;
  const until = refusals.size > 0 ? `${[...refusals].join(" and ")} until then` : "the retry waits";
  const ends = `${effects > 1 ? "runs again" : "answers"} ${when}${isSoon ? "" : `, ${until}`}`;
  const never = `${[...refusals].join(" and ")} for more than ${seconds} s`;
  const killed = outcome(isSuccess(last) ? ends : never);

  await setTimeout(Math.max(0, oldUntil - Date.now()));
  const count = orders.count();
  const late = await post(`${stage.url}/orders`, old);
  const isNew = orders.count() > count;
  const expired = outcome(isNew ? "is new again" : isSuccess(late) ? "still replays" : `gets ${late.status}`);
  return { killed, expired };
}
