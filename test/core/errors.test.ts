import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import * as errors from "../../lib/core/errors.ts";
import { bounded } from "../../lib/core/onceonly-error.ts";

const {
  isOnceonlyError,
  OnceonlyError,
  STORE_FAILURES,
  STORE_FAILURES: _failures,
  isOnceonlyError: _is,
  OnceonlyError: _base,
  ...classes
} = errors;

const SENT = { sent: true, messageId: "a", sequenceNumber: "1" } as const;

/** How each class is made, what it carries, and whether the same call may succeed later. */
const TABLE: Record<
  keyof typeof classes,
  readonly [make: () => errors.OnceonlyError, retryable: boolean, fields?: object]
> = {
  InvalidOptionError: [
    () => new errors.InvalidOptionError("mode", "must be good", "bad"),
    false,
    { option: "mode" },
  ],
  IdempotencyKeyMissingError: [() => new errors.IdempotencyKeyMissingError("no key"), false],
  IdempotencyKeyInvalidError: [() => new errors.IdempotencyKeyInvalidError("bad key"), false],
  ScopeMissingError: [() => new errors.ScopeMissingError("no scope"), false],
  PayloadInvalidError: [() => new errors.PayloadInvalidError("bad payload"), false],
  PayloadTooLargeError: [() => new errors.PayloadTooLargeError(100), false],
  ExecutionInProgressError: [
    () => new errors.ExecutionInProgressError(7, 3),
    true,
    { leaseExpiresAt: 7, retryAfterSeconds: 3 },
  ],
  FingerprintMismatchError: [() => new errors.FingerprintMismatchError(), false],
  ClaimLostError: [() => new errors.ClaimLostError(), true],
  ResponseNotStorableError: [() => new errors.ResponseNotStorableError("a Date"), false],
  ResultNotKeptError: [() => new errors.ResultNotKeptError(9), false, { bytes: 9 }],
  RecordCorruptError: [() => new errors.RecordCorruptError("broken"), false],
  StoreUnavailableError: [
    () => new errors.StoreUnavailableError("throttled", new TypeError("slow")),
    true,
    { failure: "throttled", cause: new TypeError("slow") },
  ],
  OutcomeUnknownError: [
    () => new errors.OutcomeUnknownError("late"),
    false,
    { cause: "late", retryAfterSeconds: 60 },
  ],
  TransactionConditionError: [
    () => new errors.TransactionConditionError(2, { id: 1 }, "cause"),
    false,
    { index: 2, item: { id: 1 }, cause: "cause" },
  ],
  SagaPendingError: [
    () => new errors.SagaPendingError("place-order", "mail", ["mail"], { cause: "cause" }),
    true,
    { pending: ["mail"], cause: "cause" },
  ],
  SagaCompensatedError: [
    () => new errors.SagaCompensatedError("place-order", "charge", { statusCode: 409, cause: "cause" }),
    false,
    { step: "charge", statusCode: 409, expose: true, cause: "cause" },
  ],
  StepInvalidError: [() => new errors.StepInvalidError("twice"), false],
  CommitInvalidError: [
    () => new errors.CommitInvalidError("twice", { index: 2, cause: "cause" }),
    false,
    { index: 2, cause: "cause" },
  ],
  OutboxTransactionTooLargeError: [() => new errors.OutboxTransactionTooLargeError("too large"), false],
  NestedExecutionError: [() => new errors.NestedExecutionError("pay"), false],
  PermanentError: [
    () => new errors.PermanentError("never", { statusCode: 402, cause: "cause" }),
    false,
    { statusCode: 402, expose: true, cause: "cause" },
  ],
  MessageIdInvalidError: [() => new errors.MessageIdInvalidError("no key"), false],
  SendFailedError: [
    () => new errors.SendFailedError([SENT, { sent: false, code: "InternalError" }], "cause"),
    true,
    {
      failed: [{ id: "1", code: "InternalError" }],
      results: [SENT, { sent: false, code: "InternalError" }],
      cause: "cause",
    },
  ],
  BodyUnavailableError: [
    () => new errors.BodyUnavailableError("is gone", "cause"),
    true,
    { message: "the body of a message is gone", cause: "cause" },
  ],
  BatchNotDoneError: [
    () => new errors.BatchNotDoneError([{ itemIdentifier: "a" }], 1, "record a", 2),
    true,
    { batchItemFailures: [{ itemIdentifier: "a" }], inProgress: 1 },
  ],
};

describe.each(Object.entries(TABLE))("%s", (name, [make, retryable, fields = {}]) => {
  it("carries its name, a code of the same words, whether a retry helps, and its fields", () => {
    const error = make();

    expect(error).toMatchObject({ name, retryable, ...fields });
    // What is permanent is so by its code, also in another copy of the package.
    const isPermanent = error instanceof errors.PermanentError;
    expect(error.code).toBe(
      (isPermanent ? "PermanentError" : name)
        .replace(/Error$/, "")
        .replace(/(?<=[a-z])(?=[A-Z])/g, "_")
        .toUpperCase(),
    );
    expect(error).toBeInstanceOf(Error);
    expect(error).toBeInstanceOf(OnceonlyError);
    expect(error).toBeInstanceOf(classes[name as keyof typeof classes]);
    expect(isOnceonlyError(error)).toBe(true);
    expect(String(error)).toMatch(new RegExp(`^${name}: `));
    expect(error.stack).toContain(name);
  });

  it("begins its message in lower case, or with a name or a number", () => {
    expect(make().message).toMatch(/^[a-z`\d]/);
  });
});

describe("isOnceonlyError", () => {
  it("knows errors of another copy of the package by their brand", () => {
    const foreign = Object.assign(new Error("e"), { [Symbol.for("onceonly.error")]: true });

    expect(isOnceonlyError(foreign)).toBe(true);
  });

  it.each([new Error("e"), { code: "PERMANENT" }, null, undefined, "text"])("refuses %s", (value) => {
    expect(isOnceonlyError(value)).toBe(false);
  });
});

describe("InvalidOptionError", () => {
  it.each([
    ["sk_live_4eC39HqLyjWDarjtT1zdp7dc", "a string of 32 characters"],
    ["s", "a string of 1 character"],
    ["a\ud800", "a string of 2 characters with a lone surrogate"],
    ["", "an empty string"],
    [7, "7"],
    [Number.NaN, "NaN"],
    [true, "true"],
    [null, "null"],
    [undefined, "undefined"],
    [4_111_111_111_111_111n, "a bigint"],
    [Symbol("secret"), "a symbol"],
    [{ secret: 1 }, "an object"],
    [Promise.resolve("secret"), "a promise"],
    [[], "an empty array"],
    [["secret"], "an array of 1 item"],
    [["secret", 1], "an array of 2 items"],
    [() => "secret", "a function"],
  ])("shows of a value no more than its kind, unless it is a number or a switch (%s)", (value, shown) => {
    expect(new errors.InvalidOptionError("mode", "must be good", value).message).toBe(
      `\`mode\` must be good (got ${shown})`,
    );
  });
});

describe("the message of an error", () => {
  const long = "x".repeat(4_000_000);

  it.each([
    ["a name", () => new errors.PayloadInvalidError(`the payload: $.${long} is a Date: convert it first`)],
    ["an option", () => new errors.InvalidOptionError(long, "isn't an option (valid options: a, b)")],
    [
      "a cause",
      () => new errors.StoreUnavailableError("throttled", Object.assign(new Error(), { name: long })),
    ],
    ["a code", () => new errors.SendFailedError([{ sent: false, code: long }])],
  ])("H38: keeps beginning and end, and at most 1000 characters, if %s has 4 MB", (_, make) => {
    const { message, stack } = make();

    expect(message.length).toBeLessThanOrEqual(1000);
    expect(stack!.length).toBeLessThan(10_000);
    expect(message).toMatch(/^(the payload|`x|the idempotency store failed|could not send)/);
    expect(message).toMatch(/(convert it first|valid options: a, b\)|x\)|send the same messages again)$/);
  });

  it("is a well-formed string if it is cut inside a character", () => {
    for (const start of ["", "a"]) {
      expect(new errors.RecordCorruptError(start + "\u{1f511}".repeat(1000)).message.isWellFormed()).toBe(
        true,
      );
    }
  });

  it("is left as it is up to 1000 characters", () => {
    expect(bounded("x".repeat(1000))).toBe("x".repeat(1000));
    expect(bounded("x".repeat(1001))).toContain(" … ");
  });

  it("is left to the handler in a PermanentError", () => {
    const error = new errors.PermanentError(long);

    expect(error.message).toBe(long);
    expect(Object.keys(error)).not.toContain("message");
    expect(new errors.PermanentError().message).toBe("");
  });
});

describe("PayloadInvalidError", () => {
  it("H38: has a detail for the caller only if there is one", () => {
    expect(new errors.PayloadInvalidError("bad payload", "a value is a Date").detail).toBe(
      "a value is a Date",
    );
    expect(new errors.PayloadInvalidError("bad payload")).not.toHaveProperty("detail");
    expect(new errors.PayloadInvalidError("bad payload", "x".repeat(2000)).detail).toHaveLength(1000);
  });
});

describe("ResultNotKeptError", () => {
  it("names the size of a result that was too large", () => {
    const what = "the operation is done, but its result wasn't kept";

    expect(new errors.ResultNotKeptError(9).message).toBe(`${what}: 9 bytes`);
    expect(new errors.ResultNotKeptError(0).message).toBe(what);
    expect(new errors.ResultNotKeptError(9, ": erased").message).toBe(`${what}: erased`);
  });
});

describe("OutcomeUnknownError", () => {
  it("has a cause only if it was given one", () => {
    expect(new errors.OutcomeUnknownError(null)).toHaveProperty("cause", null);
    expect(Object.hasOwn(new errors.OutcomeUnknownError(), "cause")).toBe(false);
  });
});

describe("SagaPendingError", () => {
  it("names what is left to do", () => {
    expect(new errors.SagaPendingError("place-order", "charge", ["unreserve", "mail"]).message).toBe(
      "place-order stopped at charge; still to do: unreserve, mail",
    );
  });
});

describe("PermanentError", () => {
  it.each([
    [402, true],
    [499, true],
    [500, false],
    [503, false],
  ])("H38: with status %i shows callers its message: %s", (statusCode, expose) => {
    expect(new errors.PermanentError("never", { statusCode })).toMatchObject({ statusCode, expose });
    expect(new errors.PermanentError("never", { statusCode, expose: !expose }).expose).toBe(!expose);
  });

  it("has neither without a status", () => {
    const error = new errors.PermanentError("never", { expose: true });

    expect(error).not.toHaveProperty("statusCode");
    expect(error).not.toHaveProperty("expose");
  });
});

describe("TransactionConditionError", () => {
  it("H38: exposes the item to code that reads it, and hides it from code that prints or copies the error", () => {
    const error = new errors.TransactionConditionError(0, { card: "canary-5f2e" }, undefined);

    expect(error.item).toEqual({ card: "canary-5f2e" });
    for (const shown of [inspect(error, { depth: 9 }), JSON.stringify(error), JSON.stringify({ ...error })])
      expect(shown).not.toContain("canary");
    expect(() => Object.assign(error, { item: 1 })).toThrow(TypeError);
  });
});

describe("StoreUnavailableError", () => {
  it("names failure and cause, whatever the cause is", () => {
    const messages = ["throttled", "conflict", "unreachable"] as const;

    for (const failure of messages) {
      expect(new errors.StoreUnavailableError(failure, "text")).toMatchObject({
        message: `the idempotency store failed (${failure}: an unknown error)`,
        retryable: true,
      });
    }
    expect(STORE_FAILURES).toEqual([...messages, "refused"]);
  });

  it("names the request and its table, and has both as fields", () => {
    const request = { action: "PutItem", table: "orders" };

    expect(new errors.StoreUnavailableError("throttled", undefined, "Slow: down", request)).toMatchObject({
      message: "the idempotency store failed at PutItem on orders (throttled: Slow: down)",
      ...request,
    });
    expect(new errors.StoreUnavailableError("refused", undefined, "Gone", request).message).toBe(
      "the idempotency store refused PutItem on orders (Gone), and will refuse it again: fix the permissions, the table or the request",
    );
    expect(new errors.StoreUnavailableError("refused", undefined)).not.toHaveProperty("action");
  });

  it("says that retrying a refusal can't succeed, and includes the store's own code", () => {
    expect(new errors.StoreUnavailableError("refused", new RangeError("secret"))).toMatchObject({
      message:
        "the idempotency store refused the request (RangeError), and will refuse it again: fix the permissions, the table or the request",
      retryable: false,
    });
    expect(new errors.StoreUnavailableError("refused", undefined, "Denied: KMS").message).toContain(
      "(Denied: KMS)",
    );
  });
});

describe("CommitInvalidError", () => {
  it("has neither index nor cause if they are unknown", () => {
    const error = new errors.CommitInvalidError("twice");

    expect(error).not.toHaveProperty("index");
    expect(error).not.toHaveProperty("cause");
  });
});

describe("SendFailedError", () => {
  it("lists how many of how many were not sent, and each code once", () => {
    const failed = ["InternalError", "NotAttempted", "InternalError"].map((code) => ({
      sent: false as const,
      code,
    }));

    expect(new errors.SendFailedError([SENT, ...failed]).message).toBe(
      "could not send 3 of 4 messages (InternalError, NotAttempted): send the same messages again",
    );
  });

  it("SendFailedError says what to install if the client's package is missing, since sending again can't help", () => {
    const cause = Object.assign(new Error("needs a package: npm install it"), {
      code: "ERR_MODULE_NOT_FOUND",
    });
    const { message } = new errors.SendFailedError([{ sent: false, code: "ERR_MODULE_NOT_FOUND" }], cause);

    expect(message).toBe(
      "could not send 1 of 1 messages (ERR_MODULE_NOT_FOUND): needs a package: npm install it",
    );
  });

  it.each([
    ["ERR_MODULE_NOT_FOUND", "install it"],
    ["MODULE_NOT_FOUND", "install it"],
    ["MODULE_NOT_FOUND_BY_TRACER", "send the same messages again"],
    [undefined, "send the same messages again"],
  ])("with a cause of code %s says: %s", (code, advice) => {
    const cause = Object.assign(new Error("install it"), { code });

    expect(new errors.SendFailedError([{ sent: false, code: "Timeout" }], cause).message).toBe(
      `could not send 1 of 1 messages (Timeout): ${advice}`,
    );
  });
});

describe("BatchNotDoneError", () => {
  const [one, two] = ["a", "b"].map((itemIdentifier) => ({ itemIdentifier }));
  const end = "The whole batch will be retried; `onRecordError` received each error";

  it.each<[ConstructorParameters<typeof errors.BatchNotDoneError>, string]>([
    [[[one!, two!], 1], `0 of 2 records succeeded (1 in progress elsewhere). ${end}`],
    [
      [[one!, two!], 0, "a: sold out"],
      `0 of 2 records succeeded (0 in progress elsewhere); the first failure is a: sold out. ${end}`,
    ],
    [
      [[one!], 0, "", 3],
      `2 of 3 records succeeded (0 in progress elsewhere). ${end}. To retry only the others, set ReportBatchItemFailures on the event source mapping and \`reportBatchItemFailures: true\` on idempotentBatch`,
    ],
  ])("counts what is done: %#", (given, message) => {
    expect(new errors.BatchNotDoneError(...given).message).toBe(message);
  });
});
