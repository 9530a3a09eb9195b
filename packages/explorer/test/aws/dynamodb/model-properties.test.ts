// Plays the same to the model and to an engine. DYNAMODB_PLAYS says how many plays that are, of some 30 steps each.
import fc from "fast-check";
import { describe, expect, inject, it } from "vitest";
import {
  addDecimals,
  compareDecimals,
  formatDecimal,
  parseDecimal,
} from "../../../lib/aws/dynamodb/values/decimal.ts";
import { engineSubject, modelSubject } from "./cases/subject.ts";
import { type Outcome, played } from "./plays/play.ts";
import { anySteps, type PlayStep } from "./plays/steps.ts";

const PLAYS = Number(process.env.DYNAMODB_PLAYS ?? 12);

describe.each(inject("everyDynamodbEngine"))("DynamoDBModel next to $name", ({ endpoint }) => {
  it(
    "gives the same answers and has the same items after any sequence of writes, transactions and batches",
    async () => {
      const [model, engine] = [modelSubject(), engineSubject(endpoint)];

      await fc.assert(
        fc.asyncProperty(anySteps, async (steps) => {
          const [expected, actual] = await Promise.all([played(engine, steps), played(model, steps)]);
          expect(firstDifference(steps, actual, expected)).toBeUndefined();
          expect(actual).toEqual(expected);
        }),
        { numRuns: PLAYS },
      );
    },
    PLAYS * 5000,
  );
});

function firstDifference(steps: readonly PlayStep[], actual: Outcome, expected: Outcome): unknown {
  const textAt = ({ answers }: Outcome, index: number) => JSON.stringify(answers[index]);
  const index = steps.findIndex((_, each) => textAt(actual, each) !== textAt(expected, each));
  if (index === -1) return undefined;
  return { step: steps[index], model: textAt(actual, index), engine: textAt(expected, index) };
}

describe("decimals", () => {
  const SCALE = 40;
  const digits = fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n });
  const decimal = fc.record({ digits, exponent: fc.integer({ min: -9, max: 9 }) });
  const textOf = ({ digits: value, exponent }: { digits: bigint; exponent: number }) =>
    `${value}e${exponent}`;
  const scaled = ({ digits: value, exponent }: { digits: bigint; exponent: number }) =>
    value * 10n ** BigInt(exponent + SCALE);

  it("are added and compared as integers of the same scale are", () => {
    fc.assert(
      fc.property(decimal, decimal, (first, second) => {
        const [a, b] = [parseDecimal(textOf(first)), parseDecimal(textOf(second))];

        expect(Math.sign(compareDecimals(a, b))).toBe(
          scaled(first) < scaled(second) ? -1 : Number(scaled(first) > scaled(second)),
        );
        expect(scaled(addDecimals(a, b))).toBe(scaled(first) + scaled(second));
      }),
    );
  });

  it("are the same when they are written and read again", () => {
    fc.assert(
      fc.property(decimal, (value) => {
        const parsed = parseDecimal(textOf(value));

        expect(parseDecimal(formatDecimal(parsed))).toEqual(parsed);
        expect(formatDecimal(parsed)).toMatch(/^-?(0|[1-9]\d*)(\.\d*[1-9])?$/);
      }),
    );
  });
});
