import { httpIdempotent, idempotent, idempotentBatch } from "onceonly";
import { describe, expect, it } from "vitest";
import { sqsRecord } from "./batch/given.ts";
import { bodyOf, given } from "./given.ts";
import { EVENT_FORMS } from "./http/given.ts";

const UUID = "9b2f2a34-5f0a-4f5c-9f63-0c5e6a1d9e11";

describe("keyFormat", () => {
  it.each(EVENT_FORMS)("is enforced by httpIdempotent with %s", async (_, form) => {
    const { options, store, context } = given();
    const handler = httpIdempotent(async () => ({ statusCode: 201, body: "" }), {
      ...options,
      scope: "public",
      keyFormat: "uuid",
    });
    const send = (key: string) => handler(form({ headers: { "Idempotency-Key": key } }), context());

    const refused = (await send("order-7")) as unknown;
    const taken = await send(`"${UUID}"`);

    expect(bodyOf(refused)).toMatchObject({ status: 400, code: "IDEMPOTENCY_KEY_INVALID" });
    expect(taken).toMatchObject({ statusCode: 201 });
    expect(store.records.size).toBe(1);
  });

  it("is enforced by idempotent, except for a key that is generated because none was sent", async () => {
    const { options, context } = given();
    const handler = idempotent(async (_: { id?: string }, { idempotency }) => idempotency.key.length, {
      ...options,
      key: ({ id }) => id,
      keyFormat: /order-\d+/,
      whenKeyMissing: "run",
    });

    expect(await handler({ id: "order-7" }, context())).toBe(7);
    expect(await handler({}, context())).toBeGreaterThan(7);
    await expect(handler({ id: "7" }, context())).rejects.toMatchObject({ code: "IDEMPOTENCY_KEY_INVALID" });
  });

  it("is enforced by idempotentBatch, whatever named the record", async () => {
    const { options, context } = given();
    const handler = idempotentBatch(async () => {}, {
      ...options,
      key: ({ body }: { body: string }) => (body === "none" ? undefined : body),
      keyFormat: "uuid",
      onRecordError: () => {},
    });
    const records = [sqsRecord("m1", UUID), sqsRecord("m2", "order-7"), sqsRecord("m3", "none")];

    const { batchItemFailures } = await handler({ Records: records }, context());

    expect(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier)).toEqual(["m2", "m3"]);
  });
});
