/** The state of a relay or sweeper in one invocation: its time, its connections, and the state of lines. */
import type { Clock, Random } from "../core/clock.ts";
import { remainingMsOf } from "../core/clock.ts";
import type { TimedContext } from "../core/lambda-context.ts";
import type { Taking } from "../core/messages/outbox.ts";
import { type Circuits, Dispatch } from "./connections.ts";
import type { OutboxSettings } from "./outbox-options.ts";
import { WaitingLines } from "./waiting-lines.ts";

/**
 * How many commits are sent at the same time: a commit can have 4 MB of messages, and a function has little memory and
 * time.
 */
export const COMMITS_AT_ONCE = 10;

interface InvocationTime {
  /** Whether there is time for one more request to a destination, and to store its outcome. */
  readonly hasMore: () => boolean;
  /** How long such a request may take. */
  readonly requestTimeoutMs: number;
  /** How this invocation takes (reserves) a commit now. */
  readonly taking: () => Pick<Taking, "id" | "now" | "until">;
}

/** Reserved for the end: a request that hangs, then the write that stores what was sent. */
const MAX_MARGIN_MS = 6000;
const MAX_REQUEST_MS = 4000;

/** How far the clocks of two hosts may differ. */
const SKEW_MS = 5000;

/** For a host that doesn't report how long an invocation may last. */
const UNKNOWN_MS = 300_000;

/** Divides the invocation's time. A short invocation gets smaller shares, or it would never start. */
function timeOf(context: TimedContext | undefined, clock: Clock, random: Random): InvocationTime {
  const remainingMs = () => remainingMsOf(context) ?? Number.POSITIVE_INFINITY;
  const atFirst = remainingMs();
  const id = random.token();
  const marginMs = Math.min(MAX_MARGIN_MS, atFirst / 4);
  return {
    hasMore: () => remainingMs() > marginMs,
    requestTimeoutMs: Math.min(MAX_REQUEST_MS, atFirst / 6),
    taking() {
      const now = clock.now();
      return { id, now, until: Math.ceil(now + Math.min(UNKNOWN_MS, remainingMs()) + SKEW_MS) };
    },
  };
}

/** Relay or sweeper, in one invocation. */
export interface Sender {
  readonly settings: OutboxSettings;
  readonly time: InvocationTime;
  readonly dispatch: Dispatch;
  readonly lines: WaitingLines;
}

/** After this, the message is left to the sweeper. */
const REQUEST_TRIES = 2;

/** The circuits outlive the invocation. */
export function senderOf(
  settings: OutboxSettings,
  context: TimedContext | undefined,
  circuits: Circuits,
): Sender {
  const { connections, rules, outbox, by, fence } = settings;
  const time = timeOf(context, rules.clock, rules.random);
  const { hasMore: hasTime, requestTimeoutMs } = time;
  const sending = { ...rules, hasTime, requestTimeoutMs, requestTries: REQUEST_TRIES };
  return {
    settings,
    time,
    dispatch: new Dispatch(connections, sending, circuits),
    lines: new WaitingLines(outbox, rules.clock, by === "relay", fence),
  };
}
