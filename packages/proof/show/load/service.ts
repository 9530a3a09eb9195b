// The order service under load, as the run sees it: where it is asked, when it is at rest, and what it has done.
import type { LedgerEntry, Left, OrderRow, PaymentRow } from "../demo/seen.ts";

export interface Service {
  readonly url: string;
  /** What runs there, in words. */
  readonly description: string;
  /** Waits until what was ordered is paid or declined; gives up in the end. */
  settle(): Promise<void>;
  effects(): Promise<Effects>;
  /** What was done to the service so far; `undefined` where nothing is. */
  faults(): InjectedFaults | undefined;
  stop(): Promise<void>;
}

export interface InjectedFaults {
  readonly lostAnswers: number;
  readonly throttles: number;
}

/** An order as its tenant sees it, with its key. */
export type SeenOrder = Omit<OrderRow, "card">;

/** What is `undefined` cannot be seen from where the run stands. */
export interface Effects {
  /** Whether nobody else uses the service: then there is nothing but what the run has done. */
  readonly isAlone: boolean;
  readonly orders: readonly SeenOrder[];
  readonly payments: readonly PaymentRow[] | undefined;
  readonly ledger: readonly LedgerEntry[] | undefined;
  readonly left: { readonly [what in keyof Left]: number | undefined };
}
