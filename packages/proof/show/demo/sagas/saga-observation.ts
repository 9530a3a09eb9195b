// What a run of the demo saw of its sagas.
import type { Answer, Ending, LedgerEntry, OrderRow } from "../seen.ts";

/** The gateway's and the carrier's entries under one idempotency key. */
export interface SagaEntry extends LedgerEntry {
  readonly refundedBy?: string | undefined;
  /** The article, if the entry is a shipment. */
  readonly shipped?: string | undefined;
}

export interface SagaAnswer extends Pick<Answer, "tenant" | "key" | "status" | "body"> {
  /** Whether the client has no reason to come again: its order is placed, or undone. */
  readonly isFinal: boolean;
}

/** Observed during the run. */
export interface SagasPlayed {
  readonly requests: number;
  readonly answers: readonly SagaAnswer[];
  readonly endings: readonly Omit<Ending, "asked">[];
  /** Names of the keys whose process was killed as planned, and of those that were held. */
  readonly killed: readonly string[];
  readonly held: readonly string[];
  /** How often the gateway was asked whether a charge is there. */
  readonly lookUps: number;
  /** Held keys that the reconciler has settled. */
  readonly reconciled: number;
}

/** Stored at the end. */
export interface SagasSeen extends SagasPlayed {
  readonly executions: number;
  readonly rows: readonly OrderRow[];
  readonly ledger: readonly SagaEntry[];
  /** Pieces that are reserved, of all articles. */
  readonly reserved: number;
}
