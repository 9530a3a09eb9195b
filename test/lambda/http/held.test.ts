// What a request is answered whose key is held: nobody knows how an earlier attempt ended.
import { httpIdempotent, OutcomeUnknownError } from "onceonly";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { PROJECT_URL } from "../../../lib/contract.ts";
import { type Answer, bodyOf, given } from "../given.ts";
import { v2Event } from "./given.ts";

const KEY = { "Idempotency-Key": '"k1"' };
type WhenAbandoned = NonNullable<Parameters<typeof httpIdempotent>[1]["whenAbandoned"]>;

/** A service whose first request dies after its effect. */
async function charged(whenAbandoned: WhenAbandoned) {
  const base = given();
  let charges = 0;
  const handler = httpIdempotent(
    async () => {
      charges++;
      if (charges === 1) await new Promise(() => {});
      return { statusCode: 201, body: `charge ${charges}` };
    },
    { ...base.options, scope: "public", whenAbandoned },
  );
  const send = async () =>
    (await base.clock.run(handler(v2Event({ headers: KEY }), base.context()) as Promise<unknown>)) as Answer;
  void handler(v2Event({ headers: KEY }), base.context());
  await base.clock.advance(36_000);
  return { ...base, send, charges: () => charges };
}

const log = vi.spyOn(console, "error").mockImplementation(() => {});

beforeEach(() => {
  log.mockClear();
});

describe("charged, answer lost, killed", () => {
  it('H3: with "run" a retry charges again', async () => {
    const service = await charged("run");

    expect((await service.send()).body).toBe("charge 2");
    expect(service.charges()).toBe(2);
  });

  it('H42: with "hold" no call charges again, and each request gets the same 409', async () => {
    const service = await charged("hold");

    for (let requests = 0; requests < 3; requests++) {
      const answer = await service.send();
      expect(answer).toMatchObject({ statusCode: 409, headers: { "Retry-After": "60" } });
      expect(bodyOf(answer)).toEqual({
        type: `${PROJECT_URL}/blob/main/docs/reference/errors.md#outcome_unknown`,
        title: "outcome unknown",
        status: 409,
        detail: "the outcome of an earlier attempt is unknown: retry later with the same key",
        code: "OUTCOME_UNKNOWN",
      });
    }
    expect(service.charges()).toBe(1);
    expect(service.decisions()).toEqual(["held", "held", "held"]);
    expect(log).not.toHaveBeenCalled();
  });

  it("H42: with verify there is one charge, and each request gets its answer", async () => {
    const service = await charged(({ input, childKey }) => ({
      outcome: "happened",
      result: { statusCode: 201, body: `charged ${childKey("charge").length} ${typeof input}` },
    }));

    const [first, second] = [await service.send(), await service.send()];

    expect(first).toEqual(second);
    expect(first).toMatchObject({
      statusCode: 201,
      body: "charged 43 object",
      headers: { "Idempotent-Replayed": "true" },
    });
    expect(service.charges()).toBe(1);
    expect(service.decisions()).toEqual(["verified", "replayed"]);
  });

  it("H42: with verify a charge that did not happen is made", async () => {
    const service = await charged(() => ({ outcome: "did-not-happen" }));

    expect((await service.send()).body).toBe("charge 2");
    expect(service.states()).toEqual(["completed"]);
  });

  it("logs why verify could not answer, and reveals nothing of it to callers", async () => {
    const service = await charged(() => Promise.reject(new TypeError("no such host: billing.internal")));

    const answer = await service.send();

    expect(answer).toMatchObject({ statusCode: 409, headers: { "Retry-After": "60" } });
    expect(JSON.stringify(answer)).not.toContain("billing.internal");
    expect(log).toHaveBeenCalledTimes(1);
    expect(JSON.parse(String(log.mock.calls[0]?.[0]))).toMatchObject({
      code: "OUTCOME_UNKNOWN",
      status: 409,
      operation: "create-order",
      message: expect.stringContaining("verify threw TypeError"),
    });
  });

  it("an error of the handler with that code is its own business", async () => {
    const { options, clock, context } = given();
    const handler = httpIdempotent(() => Promise.reject(new OutcomeUnknownError()), {
      ...options,
      scope: "public",
    });

    await expect(clock.run(handler(v2Event({ headers: KEY }), context()))).rejects.toThrow(
      OutcomeUnknownError,
    );
  });

  it("H42: a handler that does not know whether it charged holds its key, and each request gets the same 409", async () => {
    const { options, clock, context } = given();
    let charges = 0;
    const charge = () => {
      charges++;
      return Promise.reject(new OutcomeUnknownError(new TypeError("no answer of billing.internal")));
    };
    const handler = httpIdempotent(charge, { ...options, scope: "public", whenAbandoned: "hold" });
    const send = async () => (await clock.run(handler(v2Event({ headers: KEY }), context()))) as Answer;

    const answers = [await send(), await send()];

    expect(answers[0]).toMatchObject({ statusCode: 409, headers: { "Retry-After": "60" } });
    expect(answers[1]).toEqual(answers[0]);
    expect(charges).toBe(1);
    expect(log).toHaveBeenCalledTimes(1);
    expect(String(log.mock.calls[0]?.[0])).not.toContain("billing.internal");
  });
});
