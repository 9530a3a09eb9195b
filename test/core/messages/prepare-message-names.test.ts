// What names a message and its group, and what cannot.
import { describe, expect, it } from "vitest";
import { checkId } from "../../../lib/core/messages/prepare-message.ts";

describe("checkId", () => {
  it.each([
    "order-7/created",
    "k".repeat(255),
    "Größe 😀",
    "undefined-7",
    "[object 7]",
    "nullable",
    "undefined-behaviour",
    "dev-null",
  ])("accepts %j", (name) => {
    for (const field of ["key", "group"] as const)
      expect(checkId("the message", field, name)).toBeUndefined();
  });

  it.each([
    [undefined, "is missing"],
    [null, "is missing"],
    ["", "is missing"],
    [7, "must be a string (got 7)"],
    [{ id: 7 }, "must be a string (got an object)"],
    ["undefined", "is the text of a missing value, such as"],
    ["null", "is the text of a missing value, such as"],
    ["NaN", "is the text of a missing value, such as"],
    ["undefined/pay", "is the text of a missing value, such as"],
    ["order/null", "is the text of a missing value, such as"],
    ["order-undefined", "is the text of a missing value, such as"],
    ["order/[object Object]", "is the text of a missing value, such as"],
    ["k".repeat(256), "must be a string of 1 to 255 characters"],
    ["4111\n", "must be a string of 1 to 255 characters"],
    ["\ud800", "must be a string of 1 to 255 characters"],
  ])("rejects %j, and says why without repeating it", (name, why) => {
    for (const field of ["key", "group"] as const) {
      const check = () => checkId("messages[3]", field, name);

      expect(check).toThrow(expect.objectContaining({ code: "MESSAGE_ID_INVALID" }));
      expect(check).toThrow(`messages[3]: the ${field} ${why}`);
      expect(check).not.toThrow("4111");
    }
  });

  it.each([
    ["key", "pass the business key"],
    ["group", "pass the id of whatever must stay in order"],
  ] as const)("says what to pass for a %s that is missing", (field, advice) => {
    expect(() => checkId("the message", field, undefined)).toThrow(advice);
  });
});
