// How each order's message gets from the outbox into the queue, and how relay and stream are disturbed. Pure.
import type { Share } from "./share-out.ts";

/** Around the request that marks a commit as sent: SQS has its message by then. */
export const RELAY_KILL_POINTS = ["before-mark", "after-mark"] as const;
export type RelayKillPoint = (typeof RELAY_KILL_POINTS)[number];

/** The shares of messages by their path. */
export const DISPATCH_SHARES = {
  "sent-twice": { share: 0.06, most: 10 },
  swept: { share: 0.1, most: 20 },
  "relay-killed": { share: 0.05, most: 20, least: RELAY_KILL_POINTS.length },
  late: { share: 0.1, most: 20 },
  relayed: { share: 0.69 },
} as const satisfies Record<string, Share>;
export type DispatchKind = keyof typeof DISPATCH_SHARES;

export type Dispatch =
  | { readonly kind: "relayed" }
  /** Committed while the stream is off, sent by the relay when that is on again. */
  | { readonly kind: "late" }
  /** Committed while the stream is off, sent by the sweeper before that is on again. */
  | { readonly kind: "swept" }
  /** The relay dies when the message is sent; the next one sends it again immediately, and the queue drops it. */
  | { readonly kind: "relay-killed"; readonly killAt: RelayKillPoint }
  /** The relay dies before the mark, and the stream is off until the queue has forgotten the message. */
  | { readonly kind: "sent-twice" };

export function dispatchOf(kind: DispatchKind, nextKillPoint: () => RelayKillPoint): Dispatch {
  return kind === "relay-killed" ? { kind, killAt: nextKillPoint() } : { kind };
}
