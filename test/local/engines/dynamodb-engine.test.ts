import { describe, expect, inject, it } from "vitest";

describe("the provided engines", () => {
  it.each(inject("dynamodbEngines"))("$name answers at its endpoint", async ({ endpoint }) => {
    const answer = await fetch(endpoint);

    expect(answer.status).toBeLessThan(500);
  });
});
