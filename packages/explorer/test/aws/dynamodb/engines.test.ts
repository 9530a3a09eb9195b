// Engines by other people run the same cases: what they and the model agree on is unlikely to be a mistake of either.
import { describe, expect, inject, it } from "vitest";
import { dynamoDBCases } from "./cases/all.ts";
import { ENGINE_DIFFERENCES } from "./cases/engine-differences.ts";
import { engineSubject } from "./cases/subject.ts";

const cases = Object.values(dynamoDBCases).flat();

describe.each(inject("dynamodbEngines"))("$name", ({ name, endpoint }) => {
  const subject = engineSubject(endpoint);
  const differences = ENGINE_DIFFERENCES[name] ?? {};

  describe("agrees with the model:", () => {
    for (const { title, run } of cases) if (differences[title] === undefined) it(title, () => run(subject));
  });

  // These fail, as long as the engine is as it is said to be.
  describe.runIf(Object.keys(differences).length > 0)("is not like AWS:", () => {
    for (const { title, run } of cases) {
      const difference = differences[title];
      if (difference !== undefined) it.fails(`${title}; it ${difference}`, () => run(subject));
    }
  });

  it("differs in cases that there are", () => {
    const titles = cases.map(({ title }) => title);

    expect(Object.keys(differences).filter((title) => !titles.includes(title))).toEqual([]);
  });
});
