// What is refused before anything is sent, and how the refusal reads.

import { createIdempotentFetch, InvalidOptionError, idempotentFetch } from "onceonly/client";
import { describe, expect, it, test } from "vitest";
import { DEFAULTS } from "../../lib/client/options.ts";
import { isOnceonlyError } from "../../lib/core/errors.ts";
import { FakeRuntime } from "./runtime-world.ts";

// Nothing listens there; a refusal before any I/O never finds out.
const URL_OF_NOBODY = "http://127.0.0.1:9/orders";
const seconds = "must be a number of seconds greater than 0 and at most 86400";
const printable = "must be a string of 1 to 255 printable ASCII characters";

async function refusal(init: object): Promise<InvalidOptionError> {
  return idempotentFetch(URL_OF_NOBODY, init).then(
    () => expect.fail("it was sent"),
    (error) => error,
  );
}

describe("idempotentFetch", () => {
  test.each([
    [{ deadlineSeconds: 0 }, `\`deadlineSeconds\` ${seconds} (got 0)`],
    [{ deadlineSeconds: 86_401 }, `\`deadlineSeconds\` ${seconds} (got 86401)`],
    [{ deadlineSeconds: Number.NaN }, `\`deadlineSeconds\` ${seconds} (got NaN)`],
    [{ tryTimeoutSeconds: "5" }, `\`tryTimeoutSeconds\` ${seconds} (got a string of 1 character)`],
    [{ firstDelaySeconds: -1 }, `\`firstDelaySeconds\` ${seconds} (got -1)`],
    [{ maxDelaySeconds: null }, `\`maxDelaySeconds\` ${seconds} (got null)`],
    [{ fetch: {} }, "`fetch` must be a function (got an object)"],
    [{ onKey: true }, "`onKey` must be a function (got true)"],
    [{ key: "" }, `\`key\` ${printable} (got a string of 0 characters)`],
    [{ key: "k".repeat(256) }, `\`key\` ${printable} (got a string of 256 characters)`],
    [{ key: "caf\u00e9" }, `\`key\` ${printable} (got another character at index 3)`],
    [{ key: "a\nb" }, `\`key\` ${printable} (got another character at index 1)`],
    [{ key: 7 }, `\`key\` ${printable} (got 7)`],
    [{ key: null }, `\`key\` ${printable} (got null)`],
    [
      { headers: { "idempotency-key": "k" } },
      "`headers` must not contain Idempotency-Key: pass the key as `key`",
    ],
  ])("refuses %j", async (init, message) => {
    const error = await refusal({ method: "POST", ...init });

    expect(error).toBeInstanceOf(InvalidOptionError);
    expect(error).toMatchObject({
      code: "INVALID_OPTION",
      name: "InvalidOptionError",
      retryable: false,
      message,
    });
    expect(isOnceonlyError(error)).toBe(true);
  });

  it("rejects an unknown option by name and lists the valid ones", async () => {
    const error = await refusal({ deadlineSecond: 5 });

    expect(error.option).toBe("deadlineSecond");
    expect(error.message).toMatch(/isn't an option \(valid options: deadlineSeconds, [^;]*\)$/);
  });

  test.each([
    { apiKey: "canary-5f2e" },
    { fetch: "canary-5f2e" },
    { onKey: "canary-5f2e" },
    { deadlineSeconds: "canary-5f2e" },
    { [`${"x".repeat(80)}canary-5f2e`]: 1 },
  ])("H38: repeats nothing of a secret that is given as %j", async (init) => {
    expect(`${(await refusal(init as object)).stack}`).not.toContain("canary");
  });

  it("refuses a Request in place of init, whose fields would be lost", async () => {
    const error = await refusal(new Request(URL_OF_NOBODY, { method: "POST" }));

    expect(error.message).toBe("`init` must be a plain object (got an object)");
  });

  it("refuses mode no-cors, under which browsers drop the key", async () => {
    expect((await refusal({ mode: "no-cors" })).option).toBe("mode");
  });

  test.each(["k", "k".repeat(255), " ", "~", '"\\'])("accepts the key %j", async (key) => {
    const answer = new FakeRuntime().fetch(URL_OF_NOBODY, { key, fetch: async () => new Response() });

    expect((await answer).status).toBe(200);
  });
});

describe("createIdempotentFetch", () => {
  test.each(["key", "onKey", "method", "deadline"])("rejects %s, which isn't a shared option", (name) => {
    expect(() => createIdempotentFetch({ [name]: undefined })).toThrow(`\`${name}\` isn't an option`);
  });

  it("rejects a wrong value when it is created, not when it is called", () => {
    expect(() => createIdempotentFetch({ deadlineSeconds: -1 })).toThrow(InvalidOptionError);
  });

  it("has the defaults that its documentation names", () => {
    expect(DEFAULTS).toEqual({
      deadlineSeconds: 120,
      tryTimeoutSeconds: 35,
      firstDelaySeconds: 0.5,
      maxDelaySeconds: 20,
    });
  });
});
