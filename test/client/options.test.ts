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
    [{ deadlineSeconds: 0 }, `option \`deadlineSeconds\` ${seconds}; got 0 (number)`],
    [{ deadlineSeconds: 86_401 }, `option \`deadlineSeconds\` ${seconds}; got 86401 (number)`],
    [{ deadlineSeconds: Number.NaN }, `option \`deadlineSeconds\` ${seconds}; got NaN (number)`],
    [{ tryTimeoutSeconds: "5" }, `option \`tryTimeoutSeconds\` ${seconds}; got text of 1 characters`],
    [{ firstDelaySeconds: -1 }, `option \`firstDelaySeconds\` ${seconds}; got -1 (number)`],
    [{ maxDelaySeconds: null }, `option \`maxDelaySeconds\` ${seconds}; got null`],
    [{ fetch: {} }, "option `fetch` must be a function; got a value of type object"],
    [{ onKey: true }, "option `onKey` must be a function; got true (boolean)"],
    [{ key: "" }, `option \`key\` ${printable}; got 0 characters`],
    [{ key: "k".repeat(256) }, `option \`key\` ${printable}; got 256 characters`],
    [{ key: "caf\u00e9" }, `option \`key\` ${printable}; got another character at index 3`],
    [{ key: "a\nb" }, `option \`key\` ${printable}; got another character at index 1`],
    [{ key: 7 }, `option \`key\` ${printable}; got a value of type number`],
    [{ key: null }, `option \`key\` ${printable}; got a value of type object`],
    [
      { headers: { "idempotency-key": "k" } },
      "option `headers` must not carry Idempotency-Key; got one: give it as `key`",
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

  it("refuses an unknown option by name and says which are known", async () => {
    const error = await refusal({ deadlineSecond: 5 });

    expect(error.option).toBe("deadlineSecond");
    expect(error.message).toMatch(/is unknown here \(known: deadlineSeconds, [^;]*\)$/);
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

    expect(error.message).toBe("option `init` must be a plain object; got a value of type object");
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
  test.each(["key", "onKey", "method", "deadline"])("refuses %s, which is no shared option", (name) => {
    expect(() => createIdempotentFetch({ [name]: undefined })).toThrow(`option \`${name}\` is unknown here`);
  });

  it("refuses a wrong value when it is made, not when it is called", () => {
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
