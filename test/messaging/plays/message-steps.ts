// What producers, consumers, operators and time may do to messages of a FIFO queue, in any order.
import fc from "fast-check";
import type { Death } from "../../kit/faults/dying-process.ts";

/** How one run of the handler goes. Its effect is a commit; what is slow commits late, or never. */
export const FATES = ["done", "throws", "throws-after-effect", "slow", "hangs"] as const;
export type Fate = (typeof FATES)[number];

export interface Invocation {
  readonly do: "invoke";
  readonly maxMessages: number;
  /** The fates of the first runs in the invocation, one after the other; later runs are done. */
  readonly fates: readonly Fate[];
  readonly death: Death | undefined;
  /** Lives on after its time, as what was frozen and thaws; others are killed then. */
  readonly thaws: boolean;
  /** Reported, lost (nothing is deleted), or ignored (everything is deleted, done or not, if anything is done). */
  readonly answer: "reported" | "lost" | "ignored";
}

export type MessageStep =
  /** A message to each of these groups; where the answer is lost, the producer sends all of them again at once. */
  | { readonly do: "send"; readonly groups: readonly string[]; readonly isAnswerLost: boolean }
  /** An older message, by a producer that does not know that it was sent. */
  | { readonly do: "send-again"; readonly position: number }
  /** On purpose: under a new attempt, or under the last one again. */
  | { readonly do: "resend"; readonly position: number; readonly isNewAttempt: boolean }
  | Invocation
  | { readonly do: "redrive" }
  | { readonly do: "wait"; readonly ms: number };

export interface MessagePlan {
  readonly mode: "claimed" | "optimistic";
  /** Whether messages in progress elsewhere are hidden until their lease ends. */
  readonly hides: boolean;
  readonly steps: readonly MessageStep[];
}

const step = <Do extends MessageStep["do"], Rest extends object>(
  name: Do,
  weight: number,
  rest: { [Key in keyof Rest]: fc.Arbitrary<Rest[Key]> },
) => ({ weight, arbitrary: fc.record({ do: fc.constant(name), ...rest }) as fc.Arbitrary<unknown> });

const rarely = fc.integer({ min: 0, max: 9 }).map((number) => number === 9);

const steps = [
  step("send", 4, {
    groups: fc.array(fc.constantFrom("a", "b"), { minLength: 1, maxLength: 4 }),
    isAnswerLost: rarely,
  }),
  step("send-again", 1, { position: fc.nat(9) }),
  step("resend", 1, { position: fc.nat(9), isNewAttempt: fc.boolean() }),
  step("invoke", 9, {
    maxMessages: fc.constantFrom(1, 2, 3, 10),
    fates: fc.array(fc.constantFrom("done", "hangs", ...FATES), { maxLength: 4 }),
    death: fc.option(fc.record({ at: fc.integer({ min: 1, max: 6 }), isApplied: fc.boolean() }), {
      nil: undefined,
      freq: 3,
    }),
    thaws: fc.boolean(),
    answer: fc.constantFrom(...Array(7).fill("reported"), "lost", "lost", "ignored"),
  }),
  step("redrive", 1, {}),
  // Around the ends of the invocation, of its visibility, of its lease and of the deduplication window.
  step("wait", 6, {
    ms: fc.constantFrom(1, 3000, 10_000, 12_000, 12_000, 12_000, 15_001, 15_001, 30_000, 299_000, 300_000),
  }),
];

/** Long plays: a dead letter takes three receives. Without a size fast-check plays some ten steps. */
const LENGTH = { maxLength: 60, size: "max" } as const;

export const anyPlan: fc.Arbitrary<MessagePlan> = fc.record({
  mode: fc.constantFrom("claimed", "claimed", "optimistic"),
  hides: fc.boolean(),
  steps: fc.array(fc.oneof(...steps) as fc.Arbitrary<MessageStep>, LENGTH),
});
