// The order service under load, as the run sees it: its address, when it is at rest, and its effects.
import type { LedgerEntry, Left, OrderRow, PaymentRow } from "../demo/seen.ts";

export interface Service {
  readonly url: string;
  /** A description of the service. */
  readonly description: string;
  /** Waits until all orders are paid or declined; gives up in the end. */
  settle(): Promise<void>;
  effects(): Promise<Effects>;
  /** How the service was disturbed so far; `undefined` if it is not disturbed. */
  faults(): InjectedFaults | undefined;
  stop(): Promise<void>;
}

export interface InjectedFaults {
  readonly lostAnswers: number;
  readonly throttles: number;
}

/** An order as its tenant sees it, with its key. */
export type SeenOrder = Omit<OrderRow, "card">;

/** `undefined` parts can't be seen from where the run is. */
export interface Effects {
  /** Whether the run is the only user of the service: then every effect is the run's own. */
  readonly isAlone: boolean;
  readonly orders: readonly SeenOrder[];
  readonly payments: readonly PaymentRow[] | undefined;
  readonly ledger: readonly LedgerEntry[] | undefined;
  readonly left: { readonly [what in keyof Left]: number | undefined };
}
