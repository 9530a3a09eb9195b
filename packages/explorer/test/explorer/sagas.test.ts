// Sagas under every crash: all undone is an end as good as all done, and a compensation that is not idempotent is found.
import "../../../../test/kit/shop/environment.ts";
import { type Execution, httpIdempotent, idempotent, type SagaStep, saga } from "onceonly";
import { DynamoDBStore } from "onceonly/dynamodb";
import { describe, expect, it } from "vitest";
import { postOrder } from "../../../../test/kit/shop/events.ts";
import { explore } from "../../lib/explorer/explore.ts";
import type { ExploreOptions } from "../../lib/explorer/options.ts";
import type { LambdaHandler } from "../../lib/simulator/simulated-function.ts";

const CHARGES = "https://payments.example/charges";
const REFUNDS = "https://payments.example/refunds";
const MAILS = "https://mail.example/mails";
const store = new DynamoDBStore({ tableName: "idempotency" });
const order = { id: "order-1" };
type Order = typeof order;

async function call(url: string, key: string | undefined, signal: AbortSignal): Promise<string> {
  const headers: Record<string, string> = key === undefined ? {} : { "Idempotency-Key": key };
  const answer = await fetch(url, { method: "POST", headers, signal });
  if (!answer.ok) throw new Error("refused");
  return "done";
}

const charge: SagaStep<Order> = {
  name: "charge",
  run: ({ childKey, signal }) => call(CHARGES, childKey(), signal),
  compensate: ({ childKey, signal }) => call(REFUNDS, childKey(), signal),
};
/** Its system takes no key, and refunds as often as it is asked to. */
const hostile: SagaStep<Order> = {
  ...charge,
  compensate: ({ signal }) => call(REFUNDS, undefined, signal),
};
const mail: SagaStep<Order> = {
  name: "mail",
  run: ({ childKey, signal }) => call(MAILS, childKey(), signal),
};

function worldWhere(mailIsRefused: boolean): ExploreOptions {
  return {
    source: "invoke",
    idempotencyTable: "idempotency",
    outside: {
      "https://payments.example": () => Response.json({}, { status: 201 }),
      "https://mail.example": () => Response.json({}, { status: mailIsRefused ? 422 : 201 }),
    },
  };
}

function explored(
  steps: readonly SagaStep<Order>[],
  { isRefused = false, ...more }: ExploreOptions & { readonly isRefused?: boolean } = {},
) {
  const place = saga<Order>("place", steps);
  const handler = idempotent(
    (body: Order, { idempotency }: { idempotency: Execution }) => place.run(idempotency, body),
    { operation: "place-order", store, key: ({ id }) => id },
  );
  return explore(handler, order, { ...worldWhere(isRefused), ...more });
}

describe("explore, of a saga", () => {
  it("H53: counts a fully undone saga as ended, and reports how often one is", async () => {
    const report = await explored([charge, mail]);

    expect(report.findings.map(({ kind, id }) => `${kind} ${id}`)).toEqual([]);
    expect(report.undone?.runs).toBeGreaterThan(3);
    expect(String(report)).toMatch(
      /exactly once, or compensated as a whole\n.*\ncompensated by a saga: in \d+ runs, for example after a /,
    );
  });

  it("H53: finds nothing if the saga is undone without any disturbance, and every replay reports that", async () => {
    const report = await explored([charge, mail], { isRefused: true });

    expect(report.findings.map(({ kind, id }) => `${kind} ${id}`)).toEqual([]);
    expect(report.undisturbed).toContain("everything is compensated");
  });

  it.each([true, false])(
    "H53: finds a compensation that is not idempotent, and names the fix (undone undisturbed: %s)",
    async (isRefused) => {
      // One disturbance turns a saga back that is done otherwise, and another one strikes the compensation.
      const report = await explored([hostile, mail], { isRefused, depth: isRefused ? 1 : 2 });

      const twice = report.findings.filter(({ kind }) => kind === "happens-twice");
      expect(twice.length).toBeGreaterThan(0);
      for (const { what, advice } of twice) {
        expect(what).toContain(REFUNDS);
        expect(advice).toContain(
          "an interrupted compensation runs again: send the other system the compensation's own `childKey()`",
        );
      }
    },
  );

  it("H53: finds stock that a compensation returns twice, and none if it commits", async () => {
    const { DynamoDBClient, UpdateItemCommand } = await import("@aws-sdk/client-dynamodb");
    const client = new DynamoDBClient();
    const reservation = (pieces: number) => ({
      TableName: "stock",
      Key: { sku: "tea" },
      UpdateExpression: "ADD reserved :pieces",
      ExpressionAttributeValues: { ":pieces": pieces },
    });
    const stock = (compensate: NonNullable<SagaStep<Order>["compensate"]>): SagaStep<Order> => ({
      name: "stock",
      run: ({ commit }) => commit(3, { writes: [{ Update: reservation(3) }] }),
      compensate,
    });
    const careless = stock(async () => {
      const { Key, ExpressionAttributeValues: _, ...update } = reservation(-3);
      const values = { ":pieces": { N: "-3" } };
      await client.send(
        new UpdateItemCommand({ ...update, Key: { sku: { S: Key.sku } }, ExpressionAttributeValues: values }),
      );
    });
    const committing = stock(({ commit }) => commit(0, { writes: [{ Update: reservation(-3) }] }));
    const options: ExploreOptions & { isRefused: true } = {
      isRefused: true,
      tables: { stock: { partitionKey: "sku" } },
    };

    const [one, other] = [
      await explored([careless, mail], options),
      await explored([committing, mail], options),
    ];

    expect(one.findings.map(({ kind }) => kind)).toContain("happens-twice");
    expect(one.findings.map(({ advice }) => advice).join()).toContain("`commit(result, { writes: [...] })`");
    expect(other.findings.map(({ kind, id }) => `${kind} ${id}`)).toEqual([]);
  });

  it("H53: treats 409 as the end of a saga that is undone, over HTTP", async () => {
    const place = saga<unknown>("place", [charge as SagaStep<unknown>, mail as SagaStep<unknown>]);
    const handler = httpIdempotent(
      async (_: object, { idempotency }: { idempotency: Execution }) => {
        await place.run(idempotency, null);
        return { statusCode: 201, body: "" };
      },
      { operation: "place-order", store, scope: "public" },
    );

    const { source: _, ...world } = worldWhere(false);
    const report = await explore(handler as LambdaHandler, postOrder(), world);

    expect(report.findings.map(({ kind, id }) => `${kind} ${id}`)).toEqual([]);
    expect(report.undone?.runs).toBeGreaterThan(3);
  });
});

describe("the advice for systems that accept no key", () => {
  const exploring = (handle: (idempotency: Execution) => Promise<unknown>, isRefused = false) =>
    explore(
      idempotent((_: Order, { idempotency }: { idempotency: Execution }) => handle(idempotency), {
        operation: "pay-order",
        store,
        key: ({ id }) => id,
      }),
      order,
      worldWhere(isRefused),
    );
  const ask = (url: string, { signal }: { readonly signal: AbortSignal }) => call(url, undefined, signal);
  const adviceIn = ({ findings }: Awaited<ReturnType<typeof exploring>>) =>
    findings.filter(({ kind }) => kind === "happens-twice").map(({ advice }) => advice);

  it("is verify or hold for one effect", async () => {
    const [advice] = adviceIn(await exploring((idempotency) => ask(CHARGES, idempotency)));

    expect(advice).toContain('`whenAbandoned` (a verify function if the system can be asked, else "hold")');
  });

  it("is a step at most once for each of several effects", async () => {
    const report = await exploring(async (idempotency) => {
      await ask(CHARGES, idempotency);
      return ask(MAILS, idempotency);
    });

    expect(adviceIn(report)[0]).toContain("make each effect a step");
  });

  it("is at most once for an existing step", async () => {
    const report = await exploring(({ step }) => step("charge", (own) => ask(CHARGES, own)));

    expect(adviceIn(report)[0]).toContain(
      "`{ atMostOnce: true }` on the step, with `verify` if the system can be asked",
    );
  });

  it("is a saga if some of it is done and nothing undoes it", async () => {
    let closesAt = 0;
    const report = await explore(
      idempotent(
        async (_: Order, { idempotency }: { idempotency: Execution }) => {
          await call(CHARGES, idempotency.childKey("charge"), idempotency.signal);
          return call(MAILS, undefined, idempotency.signal);
        },
        { operation: "pay-order", store, key: ({ id }) => id },
      ),
      order,
      {
        ...worldWhere(false),
        outside: {
          "https://payments.example": () => Response.json({}, { status: 201 }),
          // Refused when a retry comes.
          "https://mail.example": () => Response.json({}, { status: Date.now() < closesAt ? 201 : 422 }),
        },
        setUp: ({ clock }) => {
          closesAt = clock.now() + 30_000;
        },
      },
    );

    const stuck = report.findings.filter(({ kind }) => kind === "stuck");
    expect(stuck.map(({ advice }) => advice).join()).toContain("saga(name, [{ name, run, compensate }])");
  });
});
