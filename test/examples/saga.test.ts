import { exactlyOnceMatchers, explore } from "onceonly-explorer";
import { expect, it, vi } from "vitest";
import { isFull } from "../setup/tier.ts";
import { itemsIn, post, underEachFault } from "./given.ts";

const [provider, carrier] = ["https://payments.example", "https://carrier.example"];
vi.stubEnv("PROVIDER_URL", provider);
vi.stubEnv("CARRIER_URL", carrier);
vi.stubEnv("PROVIDER_TOKEN", "test-token");
vi.stubEnv("STOCK_TABLE", "stock");
vi.stubEnv("IDEMPOTENCY_TABLE", "idempotency");
const { handler } = await import("../../examples/saga/handler.ts");

expect.extend(exactlyOnceMatchers);
// Each attempt that could not finish is logged as an error.
vi.spyOn(console, "error").mockImplementation(() => {});

const order = post("/orders", { sku: "tea", cents: 500 });

/** A provider and a carrier that answer a known key as before. */
function newSystems(carrierStatus: number) {
  const done = new Map<string, { readonly id: string }>();
  const serve = async (request: Request) => {
    const { pathname, searchParams } = new URL(request.url);
    if (request.method === "GET") {
      const charge = done.get(`/charges ${searchParams.get("idempotency_key")}`);
      return Response.json({ data: charge ? [charge] : [] });
    }
    const status = pathname === "/shipments" ? carrierStatus : 201;
    const name = `${pathname} ${request.headers.get("idempotency-key")}`;
    if (status === 201 && !done.has(name)) done.set(name, { id: `${done.size}` });
    return Response.json(done.get(name) ?? {}, { status });
  };
  return { done, serve };
}

/** Under each fault at each request: the stock that stays reserved, and what the provider and the carrier have done. */
async function ends(carrierStatus: number, status: number): Promise<{ requests: number; ends: Set<string> }> {
  const ends = new Set<string>();
  const requests = await underEachFault(async (aws) => {
    const { done, serve } = newSystems(carrierStatus);
    aws.table("stock", { partitionKey: "sku" });
    aws.table("idempotency", { partitionKey: "pk" });
    for (const origin of [provider, carrier]) aws.serve(origin, serve);
    const api = aws.lambda(handler);
    await aws.run(async () => {
      // The client asks until it gets an answer that no retry changes.
      for (;;) {
        const { outcome, ...rest } = await api.invoke(order);
        const answer = "value" in rest ? (rest.value as { statusCode: number; headers?: object }) : undefined;
        if (
          outcome === "returned" &&
          answer?.statusCode === status &&
          !("Retry-After" in { ...answer.headers })
        )
          break;
        await aws.clock.sleep(120_000);
      }
    });
    const [stock] = await itemsIn(aws, "stock");
    ends.add(
      [`reserved ${stock?.reserved}`, ...[...done.keys()].map((name) => name.split(" ")[0])].join(", "),
    );
  });
  return { requests, ends };
}

const explored = (carrierStatus: number, expectedStatus: number) => {
  const { done, serve } = newSystems(carrierStatus);
  return explore(handler, order, {
    tables: { stock: { partitionKey: "sku" } },
    idempotencyTable: "idempotency",
    outside: { [provider]: serve, [carrier]: serve },
    setUp: () => done.clear(),
    timeoutSeconds: 10,
    expectedStatus,
  });
};

it("reserves, charges and ships once, whatever crashes", async () => {
  expect(await ends(201, 201)).toEqual({ requests: 8, ends: new Set(["reserved 1, /charges, /shipments"]) });
  if (isFull) expect(await explored(201, 201)).toBeExactlyOnce();
});

it("refunds the charge and releases the stock once if the carrier refuses, whatever crashes", async () => {
  expect(await ends(422, 409)).toEqual({ requests: 13, ends: new Set(["reserved 0, /charges, /refunds"]) });
  if (isFull) expect(await explored(422, 409)).toBeExactlyOnce();
});
