// How the clients request each order, and how they and the order service are disturbed. Pure.
import type { SeededRandom } from "./random.ts";
import type { Share } from "./share-out.ts";

/** The points at which a function is killed, by the crash table of docs/architecture.md. */
export const KILL_POINTS = ["before-claim", "after-claim", "before-commit", "after-commit"] as const;
export type KillPoint = (typeof KILL_POINTS)[number];

/** The shares of orders by their kind. */
export const ORDER_SHARES = {
  killed: { share: 0.08, least: KILL_POINTS.length },
  abandoned: { share: 0.12 },
  concurrent: { share: 0.2 },
  reused: { share: 0.08 },
  sequential: { share: 0.2 },
  unique: { share: 0.32 },
} as const satisfies Record<string, Share>;
export type OrderKind = keyof typeof ORDER_SHARES;

export interface OrderBody {
  readonly sku: string;
  readonly quantity: number;
  /** Controls the gateway's behaviour; see functions/sandbox-gateway.ts. */
  readonly card: string;
}

export type Behaviour =
  | { readonly kind: "unique" }
  | { readonly kind: "sequential" | "concurrent"; readonly duplicates: number }
  /** The client gives up while the function claims or commits, and comes back with the same key. */
  | { readonly kind: "abandoned"; readonly giveUpAt: "claim" | "commit"; readonly backAfterMs: number }
  | { readonly kind: "reused"; readonly otherBody: OrderBody }
  /** The function is killed under the first client; the others come when it is dead, and all wait for its lease. */
  | { readonly kind: "killed"; readonly killAt: KillPoint; readonly duplicates: number };

export interface BehaviourGiven {
  readonly random: SeededRandom;
  readonly duplicates: number;
  readonly body: OrderBody;
  /** The next point of all that are to be tried. */
  readonly nextKillPoint: () => KillPoint;
}

export function behaviourOf(kind: OrderKind, given: BehaviourGiven): Behaviour {
  const { random, duplicates, body, nextKillPoint } = given;
  switch (kind) {
    case "unique":
      return { kind };
    case "sequential":
    case "concurrent":
      return { kind, duplicates };
    case "abandoned":
      return { kind, giveUpAt: random.pick(["claim", "commit"]), backAfterMs: random.integer(10, 500) };
    case "reused":
      return { kind, otherBody: { ...body, quantity: body.quantity + 1 } };
    case "killed":
      return { kind, killAt: nextKillPoint(), duplicates: random.integer(0, 2) };
  }
}
