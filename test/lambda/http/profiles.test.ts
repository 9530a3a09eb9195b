// The same refusals by each convention: only statuses, codes and bodies differ.
import middy from "@middy/core";
import {
  acpProfile,
  type HttpIdempotencyOptions,
  type HttpProfile,
  httpIdempotency,
  httpIdempotent,
  ietfProfile,
  PermanentError,
  stripeProfile,
} from "onceonly";
import { describe, expect, it } from "vitest";
import { type Answer, given, pausePoint } from "../given.ts";
import { EVENT_FORMS, type RequestParts, v2Event } from "./given.ts";

type Options = HttpIdempotencyOptions<object>;
const ADAPTERS = {
  httpIdempotent: (handler: () => Promise<object>, options: Options) => httpIdempotent(handler, options),
  httpIdempotency: (handler: () => Promise<object>, options: Options) =>
    middy().use(httpIdempotency(options)).handler(handler),
};

const titled = (title: string) => ({ title });
const stripe = (type: string, code: string) => ({ error: { type, code, message: expect.any(String) } });
const acp = (code: string, type = "invalid_request") => ({ type, code, message: expect.any(String) });

type Row = readonly [status: number, body: object];
const CONVENTIONS: readonly (readonly [name: string, profile: HttpProfile, rows: Record<string, Row>])[] = [
  [
    "ietfProfile",
    ietfProfile,
    {
      missing: [400, titled("Idempotency-Key is missing")],
      other: [422, titled("Idempotency-Key is already used")],
      running: [409, titled("A request is outstanding for this Idempotency-Key")],
      invalid: [400, { code: "IDEMPOTENCY_KEY_INVALID", title: "idempotency key invalid" }],
      never: [402, { code: "PERMANENT", detail: "no funds" }],
    },
  ],
  [
    "stripeProfile",
    stripeProfile,
    {
      missing: [400, stripe("invalid_request_error", "parameter_missing")],
      other: [400, stripe("idempotency_error", "fingerprint_mismatch")],
      running: [409, stripe("idempotency_error", "idempotency_key_in_use")],
      invalid: [400, stripe("invalid_request_error", "idempotency_key_invalid")],
      never: [402, stripe("invalid_request_error", "permanent")],
    },
  ],
  [
    "acpProfile",
    acpProfile,
    {
      missing: [400, acp("idempotency_key_required")],
      other: [422, acp("idempotency_conflict")],
      running: [409, acp("idempotency_in_flight")],
      invalid: [400, acp("idempotency_key_invalid")],
      never: [402, acp("permanent")],
    },
  ],
];

const request = (key?: string, more: RequestParts = {}) =>
  v2Event({ ...(key !== undefined && { headers: { "Idempotency-Key": key } }), ...more });

const cases = CONVENTIONS.flatMap(([name, profile, rows]) =>
  Object.entries(ADAPTERS).map(([adapter, wrap]) => [name, adapter, profile, rows, wrap] as const),
);

describe.each(cases)("%s with %s", (name, _, profile, rows, wrap) => {
  it("R9: refuses by the convention's status, code and body, and replays the same", async () => {
    const { options, context } = given();
    const work = pausePoint();
    const handler = wrap(
      async () => {
        await work.pause();
        return { statusCode: 201, body: "made" };
      },
      { ...options, scope: "public", whenInProgress: "reject", profile },
    );
    const failing = wrap(
      async () => {
        throw new PermanentError("no funds", { statusCode: 402 });
      },
      { ...options, operation: "fail", scope: "public", profile },
    );
    const send = (event: object, to = handler) => to(event, context()) as Promise<Answer>;

    const first = send(request("k1"));
    await work.reached;
    const running = await send(request("k1"));
    work.resume();
    const made = await first;
    const answers: Record<string, Answer> = {
      running,
      missing: await send(request()),
      other: await send(request("k1", { body: "other" })),
      invalid: await send(request("x".repeat(256))),
      never: await send(request("k2"), failing),
    };
    const replayed = await send(request("k1"));

    for (const [kind, [status, body]] of Object.entries(rows)) {
      expect([kind, answers[kind]?.statusCode]).toEqual([kind, status]);
      expect(JSON.parse(answers[kind]!.body)).toMatchObject(body);
      const type = name === "ietfProfile" ? "application/problem+json" : "application/json";
      expect(answers[kind]?.headers?.["Content-Type"]).toBe(type);
    }
    expect(running.headers?.["Retry-After"]).toBe("1");
    expect([made, replayed]).toMatchObject([
      { statusCode: 201, body: "made" },
      { statusCode: 201, body: "made", headers: { "Idempotent-Replayed": "true" } },
    ]);
    const echoed = [made, replayed, answers.other].map((each) => each?.headers?.["Idempotency-Key"]);
    expect(echoed).toEqual(name === "acpProfile" ? ["k1", "k1", "k1"] : [undefined, undefined, undefined]);
  });
});

describe("acpProfile", () => {
  it.each(EVENT_FORMS)(
    "R9: repeats the key as it was sent, in the form that the gateway reads: %s",
    async (_, eventOf) => {
      const { options, context } = given();
      const handler = httpIdempotent(async () => ({ statusCode: 201, body: "" }), {
        ...options,
        scope: "public",
        profile: acpProfile,
      });
      const send = (key: string | string[]) =>
        handler(eventOf({ headers: { "idempotency-key": key } }) as never, context());

      expect(JSON.stringify(await send('"k1"'))).toMatch(/"Idempotency-Key":(\["\\"k1\\""\]|"\\"k1\\"")/);
      expect(JSON.stringify(await send("\u2603"))).not.toContain("Idempotency-Key");
    },
  );

  it.each([
    [{ whenKeyMissing: "run" }, "`whenKeyMissing` must be left out with `acpProfile`"],
    [{ retentionSeconds: 3600 }, "`retentionSeconds` must be at least 86400 with `acpProfile`"],
    [{ profile: "acp" }, "`profile` must be a profile, such as `acpProfile`"],
  ])("R9: refuses options that contradict the protocol: %j", (more, message) => {
    const { options } = given();
    const wrong = { ...options, scope: "public", profile: acpProfile, ...more } as never;

    expect(() => httpIdempotent(async () => ({}), wrong)).toThrow(message);
  });
});

it("R9: a profile of one's own decides over status and body, also of the service's own faults", async () => {
  const { options, context } = given();
  const profile: HttpProfile = {
    problem: ({ code, status }) => ({ status: status === 500 ? 502 : 418, body: { code } }),
  };
  const handler = httpIdempotent(async () => new Response(), { ...options, scope: "public", profile });
  const send = (event: object) => handler(event as never, context()) as unknown as Promise<Answer>;

  expect(await send(request())).toMatchObject({
    statusCode: 418,
    body: '{"code":"IDEMPOTENCY_KEY_MISSING"}',
  });
  expect(await send(request("k1"))).toMatchObject({ statusCode: 502 });
});
