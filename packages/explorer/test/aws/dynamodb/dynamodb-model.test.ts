import { describe, expect, it } from "vitest";
import { dynamoDBCases } from "./cases/all.ts";
import { modelSubject } from "./cases/subject.ts";

describe("DynamoDBModel", () => {
  const subject = modelSubject();

  for (const [topic, cases] of Object.entries(dynamoDBCases)) {
    describe(topic, () => {
      for (const { title, run } of cases) it(title, () => run(subject));
    });
  }

  it("names a source for every case, and titles each once", () => {
    const cases = Object.values(dynamoDBCases).flat();
    const titles = cases.map(({ title }) => title);

    for (const { source } of cases) expect(source).toMatch(/^https:\/\/(docs\.aws\.amazon|github)\.com\//);
    expect(titles.filter((title, index) => titles.indexOf(title) !== index)).toEqual([]);
  });
});
