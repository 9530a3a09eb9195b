// What must be true after every schedule of the chain, whichever destinations were away.
import type { Fault } from "../../../lib/simulator/fault.ts";
import type { TraceEvent } from "../../../lib/simulator/trace-event.ts";
import { rowsOf } from "../given.ts";
import type { ChainPlayed, Commit } from "./chain.ts";
import type { ChainPlan, Destination, Sent } from "./chain-plan.ts";

/** What is wrong, in words; nothing if all is well. */
export async function chainFaultsOf(plan: ChainPlan, { aws, ...end }: ChainPlayed): Promise<string[]> {
  const wrong = end.unanswered.map((key) => `no answer for ${key}`);
  if (!end.isDone) wrong.push("messages wait for ever");
  const orders = (await rowsOf(aws, "orders")).map(({ of }) => of?.S);
  const effects = (await rowsOf(aws, "effects")).map(({ of }) => of?.S);
  const slow = plan.destinations.flatMap(({ name, latencyMs }) => (latencyMs ? [name] : []));
  const most = 1 + aws.trace.filter((event) => isLoss(event, slow)).length;
  for (const { key, messages } of plan.orders) {
    const own = orders.filter((of) => of === key).length;
    if (own !== 1) wrong.push(`${own} orders instead of 1 for ${key}`);
    for (const { name, destination } of messages) {
      const done = effects.filter((of) => of === `${name} at ${destination}`).length;
      if (done !== 1) wrong.push(`${done} effects instead of 1 of ${name} at ${destination}`);
    }
  }
  for (const destination of plan.destinations.filter(({ away }) => away.length === 0)) {
    const accepted = acceptedBy(destination, aws.trace);
    for (const { name } of sentTo(destination, plan)) {
      const times = accepted.filter((each) => each === name).length;
      if (times === 0) wrong.push(`${name} never reached ${destination.name}, which was there`);
      if (times > most) wrong.push(`${name} was sent ${times} times to ${destination.name}, ${most} at most`);
    }
    if (destination.isFifo) wrong.push(...overtakenAt(destination, accepted, plan, end.commits));
  }
  return wrong;
}

/**
 * A sender was killed, or held up for long, or never heard the answer, or could not write down what it had sent. Then the
 * sender may send the same messages again.
 */
function isLoss({ io, fault }: TraceEvent, slow: readonly string[]): boolean {
  if (!/^(relay|sweeper)/.test(io?.hostId ?? "")) return false;
  // The SDK asks once more within the time that a slow first answer has used up, and is given up before the second one.
  if (!fault || fault.kind === "refused-entries")
    return (io?.attempt ?? 1) > 1 && slow.includes(io?.target ?? "");
  if (io?.operation === "UpdateItem" || io?.operation === "TransactWriteItems") return true;
  return KILLS_AND_LOSSES.includes(fault.kind) || (fault.kind === "slow" && fault.ms > 1000);
}

const KILLS_AND_LOSSES: readonly Fault["kind"][] = ["crash", "freeze", "lost-answer", "unanswered"];

const sentTo = ({ name }: Destination, { orders }: ChainPlan): Sent[] =>
  orders.flatMap(({ messages }) => messages.filter(({ destination }) => destination === name));

/** The names of what arrived, in order, and as often as it did. */
function acceptedBy({ name }: Destination, trace: readonly TraceEvent[]): string[] {
  return trace.flatMap(({ io, fault, text }) => {
    if (io?.operation !== "SendMessageBatch" || io.target !== name || text !== "ok") return [];
    const refused = fault?.kind === "refused-entries" ? fault.entries : [];
    const entries = io.input.Entries as readonly { readonly MessageBody: string }[];
    return entries
      .filter((_, place) => !refused.includes(place))
      .map(({ MessageBody }) => MessageBody.trim());
  });
}

/**
 * Messages of a line arrive for the first time in the order of their commits, unless that order is open to dispute. The
 * order is certain if the hosts' clocks and the stream agree on it, and the index has both commits in one shard.
 */
function overtakenAt(
  destination: Destination,
  accepted: readonly string[],
  plan: ChainPlan,
  commits: readonly Commit[],
): string[] {
  const wrong: string[] = [];
  const places = new Map(accepted.map((name) => [name, accepted.indexOf(name)]));
  const inOrder = commits.flatMap((commit, index) => {
    const order = plan.orders.find(({ key }) => key === commit.key)!;
    const own = order.messages.filter((message) => message.destination === destination.name);
    return own.map((message) => ({ ...message, commit, index }));
  });
  for (const [place, later] of inOrder.entries()) {
    for (const former of inOrder.slice(0, place)) {
      if (former.group !== later.group || !isBefore(former, later)) continue;
      const [first = 0, second = 0] = [places.get(former.name), places.get(later.name)];
      if (first > second) wrong.push(`${later.name} came to ${destination.name} before ${former.name}`);
    }
  }
  return wrong;
}

interface Committed {
  readonly index: number;
  readonly commit: Commit;
}

function isBefore(former: Committed, later: Committed): boolean {
  if (former.index === later.index) return true;
  return former.commit.shard === later.commit.shard && former.commit.at < later.commit.at;
}
