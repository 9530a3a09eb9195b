// GraphQL on real servers: a query passes with its own answer, and a mutation runs once.
import { graphqlOverHttp } from "onceonly";
import { describe, expect, it } from "vitest";
import { post, SERVERS } from "./given.ts";

const JSON_TYPE = { "content-type": "application/json" };

describe.each(Object.entries(SERVERS))("graphqlOverHttp on %s", (_, start) => {
  it("R11: a query needs no key; an answer with errors isn't kept, and one without is", async () => {
    const answers = ['{"errors":[{}]}', '{"data":{}}'];
    let mutations = 0;
    const site = await start({ ...graphqlOverHttp }, () => ({
      status: 200,
      body: answers[mutations++] ?? "",
    }));
    const mutation = { body: '{"query":"mutation { buy }"}' };

    const sent = [await post(site, { ...mutation, key: null })];
    for (let tries = 0; tries < 3; tries++) sent.push(await post(site, mutation));

    expect(sent.map(({ status }) => status)).toEqual([400, 200, 200, 200]);
    expect(sent.slice(1).map(({ text }) => text)).toEqual([...answers, answers[1]]);
    expect(mutations).toBe(2);
  });

  it("R11: a query reaches the handler, without an execution", async () => {
    const site = await start({ ...graphqlOverHttp }, () => ({}));

    const read = await post(site, { key: null, headers: JSON_TYPE, body: '{"query":"{ a }"}' });

    // The handlers of these servers ask for an execution, and a skipped request has none.
    expect(read.text).toContain("went through");
    expect(read.status).toBe(500);
  });
});
