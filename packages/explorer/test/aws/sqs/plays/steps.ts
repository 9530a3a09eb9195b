/** What producers, consumers and time may do to a FIFO queue, in any order. */
import fc from "fast-check";

export const VISIBILITY_SECONDS = 30;
export const CONSUMERS = ["c1", "c2", "c3"] as const;

type Consumer = (typeof CONSUMERS)[number];

export type PlayStep =
  | { readonly do: "send"; readonly group: string; readonly deduplicationId: string }
  | { readonly do: "receive"; readonly consumer: Consumer; readonly max: number }
  | { readonly do: "delete"; readonly consumer: Consumer; readonly position: number }
  | {
      readonly do: "change";
      readonly consumer: Consumer;
      readonly position: number;
      readonly seconds: number;
    }
  | { readonly do: "crash"; readonly consumer: Consumer }
  | { readonly do: "redrive" }
  | { readonly do: "wait"; readonly ms: number };

/** Long plays: a dead letter takes three receives. Without a size fast-check plays some ten steps. */
const LENGTH = { maxLength: 120, size: "max" } as const;

const consumer = fc.constantFrom(...CONSUMERS);
const position = fc.nat(4);
const step = <Do extends PlayStep["do"], Rest extends object>(
  name: Do,
  weight: number,
  rest: { [Key in keyof Rest]: fc.Arbitrary<Rest[Key]> },
) => ({
  weight,
  arbitrary: fc.record({ do: fc.constant(name), ...rest }) as fc.Arbitrary<{ do: Do } & Rest>,
});

const send = step("send", 6, {
  group: fc.constantFrom("g1", "g2", "g3"),
  deduplicationId: fc.constantFrom("d1", "d2", "d3", "d4", "d5", "d6"),
});
const receive = step("receive", 5, { consumer, max: fc.integer({ min: 1, max: 4 }) });
const remove = step("delete", 4, { consumer, position });
const crash = step("crash", 1, { consumer });
const wait = step("wait", 4, {
  ms: fc.constantFrom(1, 1000, 29_999, 30_000, 30_001, 120_000, 299_999, 300_000),
});
const change = step("change", 3, { consumer, position, seconds: fc.constantFrom(0, 1, 60, 600) });
const redrive = step("redrive", 1, {});

/** With changes of single messages: messages that were received together then come apart. */
export const anySteps: fc.Arbitrary<PlayStep[]> = fc.array(
  fc.oneof(send, receive, remove, crash, wait, change, redrive) as fc.Arbitrary<PlayStep>,
  LENGTH,
);

export const stepsWithoutChanges: fc.Arbitrary<PlayStep[]> = fc.array(
  fc.oneof(send, receive, remove, crash, wait, redrive) as fc.Arbitrary<PlayStep>,
  LENGTH,
);
