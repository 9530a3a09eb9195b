/**
 * The contract of the store port as cases for any test runner. Every adapter passes them unchanged; an adapter only defines how
 * to make a write, and how to access the data behind the port.
 */
import { claimCases } from "./claims.ts";
import { expiryCases } from "./expiry.ts";
import { heldCases } from "./held.ts";
import { insertionCases } from "./insertions.ts";
import { insertionOverCases } from "./insertions-over.ts";
import { outboxCases } from "./outbox.ts";
import { raceCases } from "./races.ts";
import { renewalCases } from "./renewals.ts";
import { reopeningCases } from "./reopenings.ts";
import { resultCases } from "./results.ts";
import { senderCases } from "./senders.ts";
import { settlementCases } from "./settlements.ts";
import { stepConditionCases } from "./step-conditions.ts";
import { stepListingCases } from "./step-listing.ts";
import { stepResultCases } from "./step-results.ts";
import { stepCases } from "./steps.ts";
import type { StoreSubject } from "./store-subject.ts";
import { withoutMessagesCases } from "./without-messages.ts";
import { writeCases } from "./writes.ts";

export type { StoreSubject };

export interface ContractCase {
  readonly name: string;
  /** Rejects with an AssertionError when the store breaks the promise. */
  run(): Promise<void>;
}

/** The subject of a store without an outbox. */
export type SubjectWithoutOutbox<Write = unknown> = Omit<StoreSubject<Write>, "outbox">;

/**
 * One case for each promise of the port: `for (const { name, run } of storeContract(() => subject)) it(name, run);` `subject` is
 * called once per case, when the case runs. `{ messages: false }` is for a store without an outbox: a case checks that it
 * refuses messages, instead of the cases about an outbox.
 */
export function storeContract<Write>(
  subject: () => StoreSubject<Write> | Promise<StoreSubject<Write>>,
): readonly ContractCase[];
export function storeContract<Write>(
  subject: () => SubjectWithoutOutbox<Write> | Promise<SubjectWithoutOutbox<Write>>,
  options: { readonly messages: false },
): readonly ContractCase[];
export function storeContract<Write>(
  subject: () => SubjectWithoutOutbox<Write> | Promise<SubjectWithoutOutbox<Write>>,
  { messages = true }: { readonly messages?: boolean } = {},
): readonly ContractCase[] {
  const cases = {
    ...claimCases<Write>(),
    ...expiryCases<Write>(),
    ...settlementCases<Write>(),
    ...heldCases<Write>(),
    ...reopeningCases<Write>(),
    ...renewalCases<Write>(),
    ...stepCases<Write>(),
    ...stepResultCases<Write>(),
    ...stepConditionCases<Write>(),
    ...stepListingCases<Write>(),
    ...writeCases<Write>(),
    ...insertionCases<Write>(),
    ...insertionOverCases<Write>(),
    ...resultCases<Write>(),
    ...(messages ? { ...outboxCases<Write>(), ...senderCases<Write>() } : withoutMessagesCases<Write>()),
    ...raceCases<Write>(),
  };
  return Object.entries(cases).map(([name, prove]) => ({
    name,
    // Only the cases about messages ask for the outbox.
    run: async () => prove((await subject()) as StoreSubject<Write>),
  }));
}
