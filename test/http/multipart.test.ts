// Uploads on real servers: fetch chooses a new boundary for each try.
import { fingerprintFromMultipart } from "onceonly";
import { describe, expect, it } from "vitest";
import { SERVERS } from "./given.ts";

describe.each(Object.entries(SERVERS))("fingerprintFromMultipart on %s", (_, start) => {
  it("R12: replays a form that is sent again, and refuses another form", async () => {
    let runs = 0;
    const fingerprint = fingerprintFromMultipart();
    const site = await start({ fingerprint }, () => ({ status: 201, body: `${++runs}` }));
    const upload = async (title: string) => {
      const body = new FormData();
      body.append("title", title);
      body.append("file", new Blob([title]), "a.txt");
      const headers = { "idempotency-key": "k1" };
      return (await fetch(`${site.url}/orders`, { method: "POST", body, headers })).status;
    };

    expect([await upload("tea"), await upload("tea"), await upload("coffee")]).toEqual([201, 201, 422]);
    expect(runs).toBe(1);
  });
});
