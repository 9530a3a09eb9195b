import { exactlyOnceMatchers, explore } from "onceonly-explorer";
import { expect, it, vi } from "vitest";
import { post, underEachFault } from "./given.ts";

const provider = "https://payments.example";
vi.stubEnv("PROVIDER_URL", provider);
vi.stubEnv("PROVIDER_TOKEN", "test-token");
vi.stubEnv("IDEMPOTENCY_TABLE", "idempotency");
const { handler } = await import("../../examples/payment-provider/handler.ts");

expect.extend(exactlyOnceMatchers);

/** Finds its charges by their idempotency keys. `serve` charges whenever it is asked to. */
function newProvider() {
  const charges: { readonly id: string; readonly key: string | null }[] = [];
  const serve = (request: Request) => {
    if (request.method === "GET") {
      const asked = new URL(request.url).searchParams.get("idempotency_key");
      return Response.json({ data: charges.filter(({ key }) => key === asked) });
    }
    const charge = { id: `ch_${charges.length + 1}`, key: request.headers.get("idempotency-key") };
    charges.push(charge);
    return Response.json(charge, { status: 201 });
  };
  return { charges, serve };
}

// Each held key is logged as an error.
vi.spyOn(console, "error").mockImplementation(() => {});

const payment = post("/payments", { invoice: "i1", cents: 500 });

it("charges once, whatever crashes, gets lost or comes twice", async () => {
  const { charges, serve } = newProvider();

  const report = await explore(handler, payment, {
    idempotencyTable: "idempotency",
    outside: { [provider]: serve },
    setUp: () => {
      charges.length = 0;
    },
    timeoutSeconds: 10,
    expectedStatus: 201,
  });

  expect(report).toBeExactlyOnce();
  expect(report.points).toHaveLength(3);
});

it("asks the provider before it charges again, so even one that ignores keys charges once after a crash", async () => {
  const requests = await underEachFault(async (aws) => {
    const { charges, serve } = newProvider();
    aws.table("idempotency", { partitionKey: "pk" });
    aws.serve(provider, serve);
    const api = aws.lambda(handler);

    const answer = await aws.run(async () => {
      for (;;) {
        const invocation = await api.invoke(payment);
        const answer = invocation.outcome === "returned" && (invocation.value as { statusCode: number });
        if (answer && answer.statusCode === 201) return answer;
        await aws.clock.sleep(120_000);
      }
    });

    expect(answer).toMatchObject({ body: JSON.stringify(charges[0]) });
    expect(charges).toHaveLength(1);
  });

  expect(requests).toBe(3);
});

it("can't stop a frozen function that wakes up after its lease: then a provider that ignores keys charges twice", async () => {
  const { charges, serve } = newProvider();

  const report = await explore(handler, payment, {
    idempotencyTable: "idempotency",
    outside: { [provider]: serve },
    setUp: () => {
      charges.length = 0;
    },
    callKey: () => null,
    only: "2 zombie-before",
  });

  expect(report.findings).toMatchObject([{ kind: "happens-twice" }]);
});
