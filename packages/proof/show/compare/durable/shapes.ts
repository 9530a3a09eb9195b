// Durable functions in the shapes of AWS's public samples, written again: each with any contestant's steps.
import type { DurableContext } from "@aws/durable-execution-sdk-js";

export interface Order {
  readonly id: string;
}

/** A contestant's way to make steps. */
export interface Steps {
  /** Calls the provider. */
  charge(context: DurableContext, name: string, id: string): Promise<unknown>;
  /** Writes to DynamoDB. */
  write(context: DurableContext, name: string, id: string): Promise<unknown>;
  /** Books hotel and flight, and undoes both because the payment is refused. Resolves when all is undone. */
  bookTrip(context: DurableContext, order: Order): Promise<unknown>;
}

export interface Shape {
  readonly name: string;
  /** What there has to be once in the end. */
  readonly effects: readonly string[];
  /** What has to be undone in the end. */
  readonly undone?: readonly string[];
  readonly handler: (steps: Steps, order: Order, context: DurableContext) => Promise<unknown>;
}

export const SHAPES: readonly Shape[] = [
  {
    name: "an order with a wait",
    effects: ["payment", "shipment"],
    async handler(steps, _order, context) {
      await steps.charge(context, "pay", "payment");
      await context.wait("cool off", { hours: 1 });
      return steps.write(context, "ship", "shipment");
    },
  },
  {
    name: "a map over items",
    effects: ["a", "b", "c", "invoice"],
    async handler(steps, _order, context) {
      await context.map("items", ["a", "b", "c"], (child, item) =>
        steps.write(child as DurableContext, "reserve", item),
      );
      return steps.charge(context, "invoice", "invoice");
    },
  },
  {
    name: "parallel branches, one with a wait",
    effects: ["left", "right", "end"],
    async handler(steps, _order, context) {
      await context.parallel("both", [
        async (child) => steps.charge(child, "pay", "left"),
        async (child) => {
          await child.wait("slowly", { minutes: 5 });
          return steps.write(child, "pay", "right");
        },
      ]);
      return steps.write(context, "end", "end");
    },
  },
  {
    name: "an approval by callback",
    effects: ["draft", "payment", "notice"],
    async handler(steps, _order, context) {
      await steps.write(context, "draft", "draft");
      await context.waitForCallback("approve", async () => {});
      await steps.charge(context, "pay", "payment");
      return steps.write(context, "notify", "notice");
    },
  },
  {
    name: "a trip that is undone",
    effects: [],
    undone: ["hotel", "flight"],
    handler: (steps, order, context) => steps.bookTrip(context, order),
  },
];

/** A handler with that many steps, each with one write: for the requests that a step costs. */
export const writing = (writes: number): Shape => ({
  name: `${writes} writes`,
  effects: Array.from({ length: writes }, (_, index) => `write-${index}`),
  async handler(steps, _order, context) {
    for (let index = 0; index < writes; index++)
      await steps.write(context, `write ${index}`, `write-${index}`);
  },
});
