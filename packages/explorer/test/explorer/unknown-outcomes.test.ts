// Handlers that call a system without idempotency keys, and say what is to become of an outcome that nobody knows.
import "../../../../test/kit/shop/environment.ts";
import { httpIdempotent, idempotent, OutcomeUnknownError, type Verify } from "onceonly";
import { DynamoDBStore } from "onceonly/dynamodb";
import { httpLookup } from "onceonly/reconciler";
import { describe, expect, it } from "vitest";
import { type HttpEvent, postOrder } from "../../../../test/kit/shop/events.ts";
import { explore } from "../../lib/explorer/explore.ts";
import type { LambdaHandler } from "../../lib/simulator/simulated-function.ts";

const CHARGES = "https://payments.example/charges";
const store = new DynamoDBStore({ tableName: "idempotency" });
const order = { id: "order-1", cents: 300 };
type Order = typeof order;

/** A system that takes no key, and can be asked. */
const charged = new Set<string>();
const payments = async (request: Request) => {
  if (request.method === "GET") return Response.json([...charged]);
  const { id } = (await request.json()) as Order;
  charged.add(id);
  return Response.json({ id }, { status: 201 });
};

async function charge(body: Order, signal: AbortSignal) {
  const answer = await fetch(CHARGES, { method: "POST", body: JSON.stringify(body), signal });
  return { charge: ((await answer.json()) as Order).id };
}

/** Gives up where no answer came. */
const careless = (body: Order, { idempotency }: { idempotency: { signal: AbortSignal } }) =>
  charge(body, idempotency.signal);

/** Says so where no answer came. */
async function careful(body: Order, { idempotency }: { idempotency: { signal: AbortSignal } }) {
  try {
    return await charge(body, idempotency.signal);
  } catch (error) {
    throw new OutcomeUnknownError(error);
  }
}

/** Says that nobody knows for a minute after the lease: a request that stood still may yet arrive. */
const lookUp = httpLookup({
  url: () => CHARGES,
  found: (ids) => ((ids as string[]).includes(order.id) ? { charge: order.id } : undefined),
});

const explored = (
  handler: typeof careful,
  whenAbandoned: "run" | "hold" | Verify<Order>,
  more: { readonly isFinalError?: () => boolean } = {},
) =>
  explore(
    idempotent(handler, { operation: "pay-order", store, key: ({ id }) => id, whenAbandoned, ...more }),
    order,
    {
      source: "invoke",
      idempotencyTable: "idempotency",
      outside: { "https://payments.example": payments },
      setUp: () => charged.clear(),
    },
  );

describe("explore, with a system that accepts no key", () => {
  it("H3, H42: finds the second charge if abandoned attempts run again, and names the fix", async () => {
    const report = await explored(careful, "run");

    expect(report.findings.map(({ kind }) => kind)).toContain("happens-twice");
    expect(report.findings[0]?.advice).toContain("if it doesn't support keys, set `whenAbandoned`");
    expect(report.held).toBeUndefined();
  });

  it("H42: finds no second charge if keys are held, and reports how often one is", async () => {
    const report = await explored(careful, "hold");

    expect(report.findings).toEqual([]);
    expect(report.held?.runs).toBeGreaterThan(5);
    expect(String(report)).toMatch(
      /at most once, and exactly once unless a key was held\n.*\nheld until an operator decides \(whenAbandoned\): in \d+ runs, for example after /,
    );
  });

  it("H42: finds the second charge of a handler that throws another error when no answer comes", async () => {
    const report = await explored(careless, "hold");

    expect(report.findings.map(({ id }) => id)).toContain("2 lost-answer");
    expect(report.findings[0]?.advice).toContain("throw OutcomeUnknownError if no response came");
  });

  it("H42: reports which errors the held records keep", async () => {
    const report = await explored(careful, () => {
      throw new RangeError("the system has no look-up");
    });

    const error = report.held?.lastErrors.find(({ name }) => name === "RangeError");
    const at = new Date(error?.at ?? 0);
    expect(at.getTime()).toBeGreaterThan(0);
    expect(String(report)).toMatch(/held until an operator decides .*; last errors: /);
    expect(String(report)).toContain(`RangeError at ${at.toISOString()}`);
  });

  it("H42: finds nothing if the system is asked", async () => {
    const report = await explored(careful, lookUp);

    expect(String(report)).toContain(", exactly once\n");
  });

  it("H54: finds no second charge of any handler that is held, and final in each of its errors", async () => {
    const report = await explored(careless, "hold", { isFinalError: () => true });

    expect(report.findings.filter(({ kind }) => kind === "happens-twice")).toEqual([]);
    expect(report.runs).toBeGreaterThan(30);
  });

  it("H50: finds the second charge of a handler that answers 5xx after it, and none if that is declared unknown", async () => {
    const failing = (unknown: boolean) =>
      httpIdempotent(
        async (event: HttpEvent, { idempotency }) => {
          await careful(JSON.parse(event.body ?? ""), { idempotency });
          const stock = await fetch("https://stock.example/book").catch(() => undefined);
          if (stock?.ok) return { statusCode: 201, body: "" };
          if (unknown) throw new OutcomeUnknownError();
          return { statusCode: 502, body: "" };
        },
        { operation: "pay-order", store, scope: "public", whenAbandoned: "hold" },
      );
    const exploreFailing = (unknown: boolean) => {
      let requests = 0;
      return explore(failing(unknown) as LambdaHandler, postOrder(order), {
        idempotencyTable: "idempotency",
        outside: {
          "https://payments.example": payments,
          // Serves no second request of a run, nor a first one that was disturbed.
          "https://stock.example": () => new Response(null, { status: requests++ === 0 ? 200 : 503 }),
        },
        setUp: () => {
          charged.clear();
          requests = 0;
        },
      });
    };

    const [answers, says] = [await exploreFailing(false), await exploreFailing(true)];

    expect(answers.findings.map(({ kind }) => kind)).toContain("happens-twice");
    expect(says.findings.filter(({ kind }) => kind === "happens-twice")).toEqual([]);
  });
});
