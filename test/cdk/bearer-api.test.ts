import { describe, expect, it } from "vitest";
import { tokenDigestsOf } from "../../bin/bearer-api.ts";

describe("tokenDigestsOf", () => {
  it("gives the SHA-256 of each token, not the token", () => {
    // printf secret | sha256sum
    expect(tokenDigestsOf({ acme: "secret" })).toEqual({
      acme: "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b",
    });
  });
});
