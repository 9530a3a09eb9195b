import { describe, expect, it } from "vitest";
import { timeless } from "../kit/time/timeless.ts";
import { canned, clientOf, GET, refuse, succeed } from "./world.ts";

const NOON = Date.UTC(2026, 10, 22, 12);
const MINUTE = 60_000;

/** A service whose time is noon, and which refuses signatures that are 5 minutes off. */
function atNoon(refusal = "InvalidSignatureException") {
  return canned((response, { headers }) => {
    response.setHeader("date", new Date(NOON).toUTCString());
    const isInTime = Math.abs(signedAt(headers) - NOON) < 5 * MINUTE;
    if (isInTime) succeed(response);
    else refuse(response, refusal, 400, "Signature not yet current");
  });
}

describe("the client's clock", () => {
  it.each([-180, -6, 6, 60 * 24 * 365])("may be wrong by %i minutes", async (minutes) => {
    const { url, asked } = await atNoon();
    const client = clientOf(url, { clock: timeless({ now: () => NOON + minutes * MINUTE }) });

    await client.send("GetItem", GET);
    await client.send("GetItem", GET);

    // What it has learnt, it keeps.
    expect(asked).toHaveLength(3);
  });

  it.each(["RequestTimeTooSkewed", "AccessDeniedException"])("is corrected after %s too", async (name) => {
    const { url, asked } = await atNoon(name);

    await clientOf(url, { clock: timeless({ now: () => NOON + 60 * MINUTE }) }).send("GetItem", GET);

    expect(asked).toHaveLength(2);
  });

  it("is corrected for all who were refused together", async () => {
    const { url, asked } = await atNoon();
    const client = clientOf(url, { clock: timeless({ now: () => NOON + 60 * MINUTE }) });

    await Promise.all(Array.from({ length: 8 }, () => client.send("GetItem", GET)));

    expect(asked).toHaveLength(16);
  });

  it("is not considered wrong because a response was slow to read", async () => {
    let now = NOON;
    const { url, asked } = await canned((response) => {
      response.setHeader("date", new Date(now).toUTCString());
      // The process stands still before it reads this.
      now += 30 * MINUTE;
      succeed(response);
    });
    const client = clientOf(url, { clock: timeless({ now: () => now }) });

    await client.send("GetItem", GET);
    await client.send("GetItem", GET);

    expect(asked.map(({ headers }) => signedAt(headers) - NOON)).toEqual([0, 30 * MINUTE]);
  });

  it("learns nothing from a cached response, or from one without a time", async () => {
    const { url, asked } = await canned((response, { number }) => {
      if (number === 1) response.setHeader("age", "7200");
      response.setHeader("date", number === 1 ? new Date(NOON - 120 * MINUTE).toUTCString() : "yesterday");
      succeed(response);
    });
    const client = clientOf(url, { clock: timeless({ now: () => NOON }) });

    for (let calls = 0; calls < 3; calls++) await client.send("GetItem", GET);

    expect(asked.map(({ headers }) => signedAt(headers))).toEqual([NOON, NOON, NOON]);
  });

  it("does not make a wrong signature right", async () => {
    const { url, asked } = await canned((response) => {
      response.setHeader("date", new Date(NOON).toUTCString());
      refuse(response, "InvalidSignatureException");
    });

    const sending = clientOf(url, { clock: timeless({ now: () => NOON + 1000 }) }).send("GetItem", GET);

    await expect(sending).rejects.toMatchObject({ name: "InvalidSignatureException" });
    expect(asked).toHaveLength(1);
  });
});

function signedAt(headers: Readonly<Record<string, unknown>>): number {
  return Date.parse(
    `${headers["x-amz-date"]}`.replace(/(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z/, "$1-$2-$3T$4:$5:$6Z"),
  );
}
