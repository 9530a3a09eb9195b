import { describe, expect, it } from "vitest";
import { kmsKeys } from "../../lib/stores/kms-keys.ts";
import { loopbackKms } from "./kms-given.ts";

const CONTEXT = { operation: "pay", scope: "acme" };

describe("kmsKeys", () => {
  it("asks KMS for a key under operation and scope, and for the same key again", async () => {
    const { client, requests } = await loopbackKms();
    const keys = kmsKeys({ client, keyId: "alias/results" });

    const { plain, encrypted } = await keys.generate(CONTEXT);
    const again = await keys.decrypt(encrypted, CONTEXT);

    expect(plain).toHaveLength(32);
    expect(Buffer.from(again!).equals(plain)).toBe(true);
    expect(requests).toEqual([
      { action: "GenerateDataKey", keyId: "alias/results", context: CONTEXT },
      { action: "Decrypt", context: CONTEXT },
    ]);
  });

  it("names a key for each tenant, and leaves the scope of public operations out", async () => {
    const { client, requests } = await loopbackKms();
    const keys = kmsKeys({ client, keyId: ({ scope }) => `alias/${scope || "public"}` });

    await keys.generate(CONTEXT);
    await keys.generate({ operation: "pay", scope: "" });

    expect(requests.map(({ keyId }) => keyId)).toEqual(["alias/acme", "alias/public"]);
    expect(requests[1]?.context).toEqual({ operation: "pay" });
  });

  it.each(["NotFoundException", "DisabledException", "KMSInvalidStateException"])(
    "treats %s as a sign that the key is gone, when a result is to be read",
    async (code) => {
      const { client, refuse } = await loopbackKms();
      const keys = kmsKeys({ client, keyId: "alias/results" });
      refuse("Decrypt", code);

      expect(await keys.decrypt(Buffer.from("any"), CONTEXT)).toBeUndefined();
    },
  );

  it.each([
    ["AccessDeniedException", "refused"],
    ["InvalidCiphertextException", "refused"],
    ["ThrottlingException", "throttled"],
    ["DependencyTimeoutException", "unreachable"],
  ])("reports for %s that it is %s", async (code, failure) => {
    const { client, refuse } = await loopbackKms();
    const keys = kmsKeys({ client, keyId: "alias/results" });
    refuse("Decrypt", code);
    refuse("GenerateDataKey", code);

    const expected = { code: "STORE_UNAVAILABLE", failure, retryable: failure !== "refused" };
    await expect(keys.decrypt(Buffer.from("any"), CONTEXT)).rejects.toMatchObject(expected);
    await expect(keys.generate(CONTEXT)).rejects.toMatchObject(expected);
  });

  it("a key that is gone is rejected when a result is to be stored, with the action in the message", async () => {
    const { client, refuse } = await loopbackKms();
    refuse("GenerateDataKey", "DisabledException");

    await expect(kmsKeys({ client, keyId: "alias/results" }).generate(CONTEXT)).rejects.toThrow(
      /refused GenerateDataKey on AWS KMS \(DisabledException\)/,
    );
  });

  it.each([
    [{ keyId: undefined }, "keyId"],
    [{ keyId: "undefined" }, "keyId"],
    [{ keyId: "" }, "keyId"],
    [{ client: {} }, "client"],
    [{ key: "k" }, "key"],
  ])("refuses %j before any request", async (change, name) => {
    const { client, requests } = await loopbackKms();

    expect(() => kmsKeys({ client, keyId: "alias/results", ...change } as never)).toThrow(name);
    expect(requests).toEqual([]);
  });

  it("rejects a function's result that isn't an id, and sends nothing", async () => {
    const { client, requests } = await loopbackKms();
    const keys = kmsKeys({ client, keyId: () => undefined as never });

    await expect(keys.generate(CONTEXT)).rejects.toMatchObject({ failure: "refused" });
    expect(requests).toEqual([]);
  });
});
