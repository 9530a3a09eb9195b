// What a claim token says about its record.
import { describe, expect, it } from "vitest";
import { checkSeals, isHttpToken, markedToken, tokenLike, usedBucket } from "../../lib/core/token-marks.ts";

const plain = {};
const sealing = { sealsResults: true };
const bucket = { usesBucket: true };

describe("the marks of a token", () => {
  it.each([
    [false, plain, "t"],
    [undefined, plain, "t"],
    [true, plain, "h.t"],
    [false, sealing, "s.t"],
    [false, bucket, "b.t"],
    [true, { ...sealing, ...bucket }, "h.s.b.t"],
    [false, { sealsResults: false }, "t"],
  ])("are those of its caller and its store: HTTP %s, %j", (isHttp, store, token) => {
    expect(markedToken("t", isHttp, store)).toBe(token);
    expect(isHttpToken(token)).toBe(isHttp === true);
    expect(usedBucket(token)).toBe("usesBucket" in store);
    expect(tokenLike(token, "u")).toBe(token.replace("t", "u"));
  });

  it("are only read at its start", () => {
    expect([isHttpToken("t.h."), usedBucket("t.b."), tokenLike("t.h.", "u")]).toEqual([false, false, "u"]);
  });

  it("let only the encrypting store write among encrypted results", () => {
    expect(() => checkSeals(plain, { token: "s.t" })).toThrow(
      "`store` must be the handler's `encrypted` store",
    );
    expect(() => checkSeals(sealing, { token: "s.t" })).not.toThrow();
    expect(() => checkSeals(plain, { token: "h.t" })).not.toThrow();
  });
});
