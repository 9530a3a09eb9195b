import {
  type BatchOptions,
  type HttpIdempotencyOptions,
  httpIdempotency,
  httpIdempotent,
  type IdempotencyOptions,
  idempotency,
  idempotent,
  idempotentBatch,
} from "onceonly";
import { describe, expect, it } from "vitest";
import { bodyOf, given } from "./given.ts";
import { v2Event } from "./http/given.ts";

const { options } = given();
const key = () => "k";
const handle = async () => ({ statusCode: 200, body: "" });

const PLAIN_ADAPTERS = [
  ["idempotency", (given: object) => idempotency(given as IdempotencyOptions)],
  ["idempotent", (given: object) => idempotent(handle, given as IdempotencyOptions)],
] as const;
const HTTP_ADAPTERS = [
  ["httpIdempotency", (given: object) => httpIdempotency(given as HttpIdempotencyOptions)],
  ["httpIdempotent", (given: object) => httpIdempotent(handle, given as HttpIdempotencyOptions)],
] as const;

describe.each(PLAIN_ADAPTERS)("%s", (_, adapter) => {
  it.each([
    ["key", undefined],
    ["key", "id"],
    ["scope", "private"],
    ["scope", 7],
    ["whenKeyMissing", "skip"],
    ["fingerprint", "body"],
    ["operation", ""],
    ["store", {}],
    ["retentionSeconds", 0],
    ["methods", ["POST"]],
    ["headr", "X"],
    ["scope", undefined],
  ])("rejects the option %s: %j immediately", (option, value) => {
    const refused = () => adapter({ ...options, key, [option]: value });

    expect(refused).toThrow(expect.objectContaining({ code: "INVALID_OPTION", option }));
  });

  it.each([
    ["scope", "public"],
    ["scope", () => "me"],
    ["whenKeyMissing", "run"],
    ["fingerprint", [() => 1, () => 2]],
    ["whenKeyMissing", undefined],
  ])("accepts the option %s: %j", (option, value) => {
    expect(() => adapter({ ...options, key, [option]: value })).not.toThrow();
  });
});

describe.each([
  ...PLAIN_ADAPTERS,
  ["idempotentBatch", (given: object) => idempotentBatch(handle, given as BatchOptions)] as const,
])("%s", (_, adapter) => {
  const base = _ === "idempotentBatch" ? options : { ...options, key };

  it("H21: treats a scope that is left out as public, and rejects one that was meant and is missing", () => {
    const { tenantOf } = {} as { tenantOf?: () => string };

    expect(() => adapter(base)).not.toThrow();
    expect(() => adapter({ ...base, scope: tenantOf })).toThrow(
      '`scope` must be a function or "public" (got undefined)',
    );
  });
});

describe.each(HTTP_ADAPTERS)("%s", (_, adapter) => {
  it.each([
    ["scope", undefined],
    ["scope", ""],
    ["key", "id"],
    ["methods", []],
    ["methods", "POST"],
    ["methods", ["post"]],
    ["methods", ["PO ST"]],
    ["header", ""],
    ["header", "Idempotency Key"],
    ["strict", "yes"],
    ["whenKeyMissing", true],
    ["constructor", 1],
  ])("rejects the option %s: %j immediately", (option, value) => {
    const refused = () => adapter({ ...options, scope: "public", [option]: value });

    expect(refused).toThrow(expect.objectContaining({ code: "INVALID_OPTION", option }));
  });

  it.each([
    ["key", key],
    ["methods", ["POST", "PUT", "DELETE"]],
    ["header", "X-Request-Key"],
    ["strict", true],
    ["shouldStore", () => true],
    ["fingerprint", undefined],
  ])("accepts the option %s: %j", (option, value) => {
    expect(() => adapter({ ...options, scope: "public", [option]: value })).not.toThrow();
  });
});

describe("httpIdempotent", () => {
  it("reads the key from the header that `header` names, and strictly if `strict` is set", async () => {
    const { options, context } = given();
    const handler = httpIdempotent(
      async (_event: unknown, { idempotency }) => ({ statusCode: 200, body: idempotency.key }),
      {
        ...options,
        scope: "public",
        header: "X-Request-Key",
        strict: true,
      },
    );
    const send = (headers: Record<string, string>) => handler(v2Event({ headers }), context());

    expect(await send({ "x-request-key": '"k1"' })).toEqual({ statusCode: 200, body: "k1" });
    expect(bodyOf(await send({ "x-request-key": "k1" })).code).toBe("IDEMPOTENCY_KEY_INVALID");
    expect(bodyOf(await send({ "idempotency-key": '"k1"' })).code).toBe("IDEMPOTENCY_KEY_MISSING");
  });

  it("reads the key with `key`, and fingerprints the result of `fingerprint`", async () => {
    const { options, context } = given();
    type Parsed = Omit<ReturnType<typeof v2Event>, "body"> & { body: { id: string; sentAt: number } };
    const handler = httpIdempotent(
      async (event: Parsed) => ({ statusCode: 200, body: String(event.body.sentAt) }),
      {
        ...options,
        scope: "public",
        key: (event) => event.body.id,
        fingerprint: (event) => event.body.id,
      },
    );
    const send = (sentAt: number) => handler({ ...v2Event(), body: { id: "o1", sentAt } }, context());

    expect(await send(1)).toMatchObject({ statusCode: 200, body: "1" });
    expect(await send(2)).toMatchObject({ statusCode: 200, body: "1" });
  });

  it("throws the error of an event reader, and runs nothing", async () => {
    const { options, context, store } = given();
    const handler = httpIdempotent(handle, {
      ...options,
      scope: () => {
        throw new TypeError("no claims");
      },
    });

    await expect(handler(v2Event({ headers: { "idempotency-key": "k" } }), context())).rejects.toThrow(
      "no claims",
    );
    expect(store.records.size).toBe(0);
  });

  it("does not run for anything but an HTTP request", async () => {
    const { options, context } = given();
    const handler = httpIdempotent(handle, { ...options, scope: "public" });

    await expect(handler({ Records: [] } as object, context())).rejects.toMatchObject({
      code: "PAYLOAD_INVALID",
    });
  });
});
