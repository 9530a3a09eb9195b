// The crash that the site's readers choose: what the page computes in a browser, computed here on Node.
import { createHash, hash as nodeHash, randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { play } from "../../docs/.vitepress/theme/crash/play.ts";
import { CRASH_POINTS } from "../../docs/.vitepress/theme/crash/points.ts";
import { Buffer as OurBuffer } from "../../docs/.vitepress/theme/crash/shims/buffer.ts";
import * as ours from "../../docs/.vitepress/theme/crash/shims/crypto.ts";

describe("38.4: the crash that a reader chooses", () => {
  it.each(CRASH_POINTS)("%s: with onceonly there is one order and one charge in the end", async (point) => {
    const { retries, atTheEnd } = await play(point, true);

    expect(atTheEnd).toMatchObject({ orders: 1, charges: 1, record: { state: "completed" } });
    expect(retries.at(-1)).toMatchObject({ status: 201 });
  });

  it.each([
    ["before the claim", { orders: 1, charges: 1 }],
    ["after the charge", { orders: 1, charges: 2 }],
    ["after the commit", { orders: 2, charges: 2 }],
    ["before the answer arrives", { orders: 2, charges: 2 }],
  ] as const)("%s: without it the effects are counted as they are", async (point, effects) => {
    expect((await play(point, false)).atTheEnd).toMatchObject(effects);
  });

  it("lets a retry wait for the lease of the dead attempt, and replays what was committed", async () => {
    const waited = (await play("after the charge", true)).retries;
    expect(waited.slice(0, -1).every(({ status, ran }) => status === 409 && !ran)).toBe(true);
    expect(waited.at(-1)).toMatchObject({ ran: true, isReplay: false });

    expect((await play("after the commit", true)).retries).toMatchObject([{ isReplay: true, ran: false }]);
  });
});

describe("38.4: what the library finds in a browser in place of Node", () => {
  it.each([0, 1, 55, 56, 63, 64, 65, 119, 120, 1000])("hashes %i bytes as Node does", (length) => {
    const bytes = randomBytes(length);

    expect(ours.hash("sha256", bytes, "base64url")).toBe(nodeHash("sha256", bytes, "base64url"));
    expect(ours.createHash("sha256").update(bytes).update("é").digest("hex")).toBe(
      createHash("sha256").update(bytes).update("é").digest("hex"),
    );
  });

  it("converts text and bytes as Node's Buffer does", () => {
    const bytes = randomBytes(50);
    for (const encoding of ["hex", "base64", "base64url", "latin1"] as const) {
      expect(OurBuffer.from(bytes).toString(encoding)).toBe(bytes.toString(encoding));
    }
    expect([...OurBuffer.from(bytes.toString("base64url"), "base64url")]).toEqual([...bytes]);
    expect(OurBuffer.byteLength("é…")).toBe(Buffer.byteLength("é…"));
    expect(OurBuffer.concat([OurBuffer.from("a"), OurBuffer.from("é")]).toString()).toBe("aé");
  });
});
