/** What the advice needs to know about a finding. */
import type { Effect } from "./effect.ts";
import type { FindingKind } from "./finding.ts";
import type { Structure } from "./saga-runs.ts";
import type { SourceKind } from "./source.ts";
import type { CallKey, Usage } from "./usage.ts";

export interface Symptom {
  readonly kind: FindingKind;
  readonly source: SourceKind;
  readonly uses: Usage;
  /** The effect that the finding is about, if any. */
  readonly effect?: Pick<Effect, "kind"> | undefined;
  /** The idempotency key of the calls that the finding is about. */
  readonly callKey: CallKey;
  /** Whether all effects happened nevertheless. */
  readonly isDone?: boolean | undefined;
  /** Whether some of them did. */
  readonly isHalfDone?: boolean | undefined;
  /** Whether the run has steps or a saga, and whether several of its effects are in other systems. */
  readonly structure: Structure;
  readonly hasSeveral: boolean;
  /** Whether the effect is that of a compensation. */
  readonly isUndoing: boolean;
}

export type EffectKind = Effect["kind"];

export function kindOf({ effect }: Symptom): EffectKind {
  return effect?.kind ?? "item";
}

export const isBatch = ({ source }: Symptom): boolean => source === "sqs" || source === "stream";

/** A handler's own records have neither leases nor commits. */
export const hasNoRecord = ({ uses }: Pick<Symptom, "uses">): boolean => uses === "nothing" || uses === "own";
