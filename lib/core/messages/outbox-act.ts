/** Who decided what about a commit's messages, and why. Kept with its record, next to the verdict about the key. */
import { BY_WHOM_CHECKS, type ByWhom } from "../by-whom.ts";
import { type Clock, systemClock } from "../clock.ts";
import { type Check, checkOptions } from "../option-checks.ts";
import { ENGINE_CHECKS } from "../options.ts";
import { decodeEvidence } from "../verify.ts";

/** Who decides about messages, and why. */
export interface OutboxOperator extends ByWhom {
  /** @default - the system's clock */
  readonly clock?: Clock;
}

/** A decision, as its record stores it. */
export interface OutboxAct extends ByWhom {
  readonly act: "send-again" | "redirect" | "edit" | "drop";
  /** Positions in the commit, from 0: the first 20. */
  readonly messages: readonly number[];
  /** The number of messages that it is about. */
  readonly count: number;
  /** Epoch ms. */
  readonly at: number;
  /** The key of the message before it was edited. */
  readonly formerKey?: string | undefined;
}

const MAX_PLACES = 20;

/** A record keeps only the last decisions, so that many of them don't make it expensive. */
const MAX_ACTS = 5;

const OPERATOR_CHECKS: Readonly<Record<keyof OutboxOperator, Check>> = {
  ...BY_WHOM_CHECKS,
  clock: ENGINE_CHECKS.clock,
};

/** @throws InvalidOptionError (`INVALID_OPTION`) */
export function checkOperator(
  given: object,
  more: Readonly<Record<string, Check>>,
  required: readonly string[],
) {
  checkOptions(given, { ...more, ...OPERATOR_CHECKS }, [...required, "by", "why"]);
}

/** A record's evidence with one more decision. The verdict about the key stays. */
export function withAct(
  evidence: string | undefined,
  act: OutboxAct["act"],
  places: readonly number[],
  { by, why, clock = systemClock, formerKey }: OutboxOperator & Pick<OutboxAct, "formerKey">,
): string {
  const [messages, count] = [places.slice(0, MAX_PLACES), places.length];
  const added: OutboxAct = { act, messages, count, by, why, at: clock.now(), formerKey };
  const acts = [...actsIn(evidence), added].slice(-MAX_ACTS);
  return JSON.stringify({ ...decodeEvidence(evidence), acts });
}

/** Oldest first. Unreadable evidence has none. */
export function actsIn(evidence: string | undefined): readonly OutboxAct[] {
  const { acts } = Object(decodeEvidence(evidence)) as { readonly acts?: unknown };
  return Array.isArray(acts) ? acts : [];
}
