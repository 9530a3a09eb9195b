// What requests, relays, sweepers, consumers and time may do to committed messages, in any order.
import fc from "fast-check";

/** A fault of a relay or a sweeper, at one of its requests. */
export interface Fault {
  /** From 1; or at the first of this name. */
  readonly at: number | string;
  readonly kind: /** The process is gone; the request is carried out, or not. */
    | "dies-before"
    | "dies-after"
    /** The request fails; so does its answer alone. */
    | "fails"
    | "answer-lost"
    /** The invocation is over, and much later its process goes on where it was. */
    | "freezes";
}

export interface Sending {
  readonly faults: readonly Fault[];
  /** Groups whose messages the queue refuses this time. */
  readonly refused: readonly string[];
}

export type OutboxStep =
  /** One commit with a message for each of these groups, in this order. Large ones are not in the change itself. */
  | { readonly do: "commit"; readonly groups: readonly string[]; readonly isLarge: boolean }
  | ({ readonly do: "relay"; readonly batchSize: number } & Sending)
  | ({ readonly do: "sweep" } & Sending)
  | { readonly do: "consume" }
  | { readonly do: "wait"; readonly ms: number }
  | { readonly do: "lose-stream" };

/** `a` and `e` are in one shard of MemoryStore's index. */
export const GROUPS = ["a", "b", "e"];

const sending = {
  faults: fc.array(
    fc.record({
      at: fc.oneof(
        fc.integer({ min: 1, max: 8 }),
        // Most sweeps find nothing that is due: the requests of the others come more often.
        fc.constantFrom("lease", "find", "load", "take", "send", "send", "send", "keep", "mark"),
      ),
      kind: fc.constantFrom("dies-before", "dies-after", "fails", "answer-lost", "freezes", "freezes"),
    }),
    { maxLength: 2 },
  ),
  refused: fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.subarray(GROUPS, { minLength: 1 }) },
  ),
} as const;

const isLarge = fc.integer({ min: 0, max: 5 }).map((number) => number === 5);

const steps = [
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("commit"),
      groups: fc.array(fc.constantFrom(...GROUPS), { minLength: 1, maxLength: 3 }),
      isLarge,
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant("relay"), batchSize: fc.constantFrom(1, 3, 10), ...sending }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("sweep"), ...sending }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("consume") }) },
  // Around a request, what counts as fresh, the age for the sweeper, a timeout and the deduplication window.
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("wait"),
      ms: fc.constantFrom(5, 20, 100, 1000, 5001, 30_001, 61_000, 299_000, 301_000),
    }),
  },
];

const LOSS = { weight: 1, arbitrary: fc.record({ do: fc.constant("lose-stream") }) };

/** Without a size fast-check plays some ten steps. */
const LENGTH = { maxLength: 50, size: "max" } as const;

const planOf = (...all: readonly { weight: number; arbitrary: fc.Arbitrary<unknown> }[]) =>
  fc.array(fc.oneof(...all) as fc.Arbitrary<OutboxStep>, LENGTH);

export const anyPlan: fc.Arbitrary<OutboxStep[]> = planOf(...steps);
export const anyLossyPlan: fc.Arbitrary<OutboxStep[]> = planOf(...steps, LOSS);
