// Handlers of several effects, under every crash: what a step keeps from happening twice, and what only a step at most once does.
import "../../../../test/kit/shop/environment.ts";
import { type Execution, idempotent, saga } from "onceonly";
import { DynamoDBStore } from "onceonly/dynamodb";
import { httpLookup } from "onceonly/reconciler";
import { describe, expect, it } from "vitest";
import type { StepOptions } from "../../../../lib/core/steps.ts";
import { explore } from "../../lib/explorer/explore.ts";

const CHARGES = "https://payments.example/charges";
const MAILS = "https://mail.example/mails";
const store = new DynamoDBStore({ tableName: "idempotency" });
const order = { id: "order-1" };
type Order = typeof order;

/** Systems that take no key; the payments can be asked. */
const charged = new Set<string>();
const payments = async (request: Request) => {
  if (request.method === "GET") return Response.json([...charged]);
  charged.add(((await request.json()) as Order).id);
  return Response.json({ charge: "ch_1" }, { status: 201 });
};
const mail = async () => Response.json({ sent: true }, { status: 201 });

const post = async (url: string, body: Order, signal: AbortSignal) => {
  const answer = await fetch(url, { method: "POST", body: JSON.stringify(body), signal });
  return (await answer.json()) as object;
};

const explored = (options: StepOptions) =>
  explore(
    idempotent(
      async (body: Order, { idempotency }: { idempotency: Execution }) => {
        const { step } = idempotency;
        const charge = await step("charge", ({ signal }) => post(CHARGES, body, signal), options);
        const sent = await step("mail", ({ signal }) => post(MAILS, body, signal), { atMostOnce: true });
        return { charge, sent };
      },
      { operation: "pay-order", store, key: ({ id }) => id },
    ),
    order,
    {
      source: "invoke",
      idempotencyTable: "idempotency",
      outside: { "https://payments.example": payments, "https://mail.example": mail },
      setUp: () => charged.clear(),
    },
  );

describe("explore, of a handler with steps", () => {
  it("H60: finds the interrupted step that happens twice, and no other", async () => {
    const report = await explored({});

    expect(new Set(report.findings.map(({ kind }) => kind))).toEqual(new Set(["happens-twice"]));
    expect(report.findings.every((finding) => JSON.stringify(finding).includes("payments.example"))).toBe(
      true,
    );
  });

  it("H54: finds nothing twice if steps run at most once, and reports how often a key is held", async () => {
    const report = await explored({ atMostOnce: true });

    expect(report.findings).toEqual([]);
    expect(report.held?.runs).toBeGreaterThan(0);
  });

  it("H42: finds each charge once if its step is verified", async () => {
    const verify = httpLookup({
      url: () => CHARGES,
      found: (ids) => ((ids as string[]).includes(order.id) ? { charge: "ch_1" } : undefined),
    });

    const report = await explored({ atMostOnce: true, verify });

    expect(report.findings).toEqual([]);
  });
});

describe("explore, of a handler with a saga", () => {
  /** Systems that keep keys, and refuse the mail where it is `refused`. */
  const explored = (refused: boolean) => {
    const keys = new Set<string>();
    const once = (request: Request) => {
      const key = `${new URL(request.url).pathname} ${request.headers.get("Idempotency-Key")}`;
      const isNew = !keys.has(key);
      keys.add(key);
      return Response.json({ isNew }, { status: isNew ? 201 : 200 });
    };
    const call = async (url: string, key: string, signal: AbortSignal) => {
      const answer = await fetch(url, { method: "POST", headers: { "Idempotency-Key": key }, signal });
      if (!answer.ok) throw new Error(answer.status === 422 ? "refused" : "again");
      return null;
    };
    // A request without an answer is sent again, under the same key.
    const retryLater = (error: unknown) => (error as Error).message !== "refused";
    const place = saga<Order>("place", [
      {
        name: "charge",
        retryLater,
        run: ({ childKey, signal }) => call(CHARGES, childKey(), signal),
        compensate: ({ childKey, signal }) => call(`${CHARGES}/refunds`, childKey(), signal),
      },
      { name: "mail", retryLater, run: ({ childKey, signal }) => call(MAILS, childKey(), signal) },
    ]);
    return explore(
      idempotent(
        async (body: Order, { idempotency }: { idempotency: Execution }) => {
          await place.run(idempotency, body).catch((error) => {
            if (error.name !== "SagaCompensatedError") throw error;
          });
          return "ended";
        },
        { operation: "place-order", store, key: ({ id }) => id },
      ),
      order,
      {
        source: "invoke",
        idempotencyTable: "idempotency",
        outside: {
          "https://payments.example": async (request: Request) => once(request),
          "https://mail.example": async (request: Request) =>
            refused ? Response.json({}, { status: 422 }) : once(request),
        },
        setUp: () => keys.clear(),
      },
    );
  };

  it("H53: finds each effect once if all is done, and if all is undone", async () => {
    for (const refused of [false, true]) {
      const report = await explored(refused);

      expect(report.findings.map((finding) => `${finding.kind}: ${finding.disturbance}`)).toEqual([]);
    }
  });
});
