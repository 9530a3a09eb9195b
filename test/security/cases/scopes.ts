// Scopes: whoever is not certainly one caller shares no record with anybody.
import {
  callerFromAuthorizer,
  callerFromJwt,
  callerFromTenant,
  httpIdempotent,
  idempotent,
  idempotentBatch,
  runOnce,
} from "onceonly";
import { answered, sqsRecord } from "../../lambda/batch/given.ts";
import { type Answer, bodyOf, given } from "../../lambda/given.ts";
import { v1Event, v2Event } from "../../lambda/http/given.ts";
import { errorOf, hold, type Suite } from "../world.ts";
import { ODD_OTHERS, ODD_TEXTS, oddTexts } from "./odd-values.ts";

type Given = ReturnType<typeof given>;
const HEADERS = { "Idempotency-Key": '"k1"' };
const run = async () => ({ statusCode: 201, body: "" });
const codeOf = (error: unknown) => (error as { code?: unknown } | undefined)?.code;

/** Each way by which a value becomes a scope: the code of the refusal, or nothing. */
const WAYS: Readonly<Record<string, (base: Given, value: unknown) => Promise<unknown>>> = {
  "a claim of payload v2": (base, sub) =>
    overHttp(base, callerFromJwt(), v2Event({ headers: HEADERS, authorizer: { jwt: { claims: { sub } } } })),
  "a claim of payload v1": (base, sub) =>
    overHttp(base, callerFromJwt(), v1Event({ headers: HEADERS, authorizer: { claims: { sub } } })),
  "a field of an authorizer": (base, tenant) =>
    overHttp(
      base,
      callerFromAuthorizer("tenant"),
      v2Event({ headers: HEADERS, authorizer: { lambda: { tenant } } }),
    ),
  "a function": (base, value) => overHttp(base, () => value as string, v2Event({ headers: HEADERS })),
  "the tenant of an invocation": async ({ options, context }, tenantId) => {
    const handler = idempotent(run, { ...options, key: () => "k1", scope: callerFromTenant() });
    return codeOf(await errorOf(() => handler({}, { ...context(), tenantId } as never)));
  },
  "a record of a batch": async ({ options, context }, value) => {
    let refusal: unknown;
    const onRecordError = (error: unknown) => {
      refusal = error;
    };
    const handler = idempotentBatch(run, { ...options, scope: () => value as string, onRecordError });
    await answered(handler({ Records: [sqsRecord("m1")] }, context()));
    return codeOf(refusal);
  },
  runOnce: async ({ options }, scope) =>
    codeOf(
      await errorOf(() => runOnce({ ...options, leaseSeconds: 30, scope: scope as string }, "k1", {}, run)),
    ),
};

async function overHttp(
  { options, context }: Given,
  scope: never | ((event: never) => string | undefined),
  event: object,
) {
  const handler = httpIdempotent(run, { ...options, scope: scope as never });
  let answer: Answer;
  try {
    answer = (await handler(event as never, context())) as unknown as Answer;
  } catch (error) {
    return codeOf(error);
  }
  return answer.statusCode === 401 || answer.statusCode === 403 ? bodyOf(answer).code : undefined;
}

/** Who was taken under a record's key: no two of them may differ. */
const owners = new Map<string, string>();

export const scopes: Suite<readonly [way: string, value: unknown]> = {
  title: "scopes",
  what: "claims, fields of authorizers, tenants, functions: blanks, strings without a value, numbers beyond 2^53, separators, look-alikes, objects",
  promise:
    "refused before any request, or given their own records: two different ones never share a record, and none is public",
  inputs: () => {
    const generated = oddTexts(
      60,
      ["#", "%", "2", "3", "a", " ", "\u0000", "\u200b", "ä", "a\u0308", "\u{1f511}", "/"],
      12,
      1,
    );
    const values = [...ODD_TEXTS, ...generated, ...ODD_OTHERS];
    return Object.keys(WAYS).flatMap((way) => values.map((value) => [way, value] as const));
  },
  async judge([way, value]) {
    const base = given();
    const code = await WAYS[way]?.(base, value);
    const [recordKey] = [...base.store.records.keys()];
    if (recordKey === undefined) {
      // A `scope` that returns a promise or a function is the author's mistake, not the caller's.
      const isWrong = value instanceof Promise || typeof value === "function";
      const isMistake = isWrong && code === "INVALID_OPTION";
      hold(code === "SCOPE_MISSING" || isMistake, `nothing was recorded, and the refusal is ${String(code)}`);
      return "refused";
    }
    hold(code === undefined, `refused with ${String(code)}, and recorded`);
    const isText =
      typeof value === "string" ||
      (Number.isSafeInteger(value) && way.includes("a claim of")) ||
      (Number.isSafeInteger(value) && way.includes("authorizer"));
    hold(isText, "taken, and it is no text and no safe integer");
    const owner = decodeURIComponent(recordKey.split("#")[1] ?? "");
    hold(owner === String(value) && owner.trim() !== "", `recorded for ${JSON.stringify(owner)}`);
    hold((owners.get(recordKey) ?? owner) === owner, `shares a record with ${owners.get(recordKey)}`);
    owners.set(recordKey, owner);
    return "accepted";
  },
};
