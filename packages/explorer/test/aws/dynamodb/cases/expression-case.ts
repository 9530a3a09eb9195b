/** Statements about single expressions, a line each. */
import { expect } from "vitest";
import type { Item } from "../../../../lib/aws/dynamodb/values/attribute-value.ts";
import { type DynamoDBCase, refused } from "./case.ts";
import { get, newKey, plainTable, putPlain } from "./given.ts";

export interface Placeholders {
  readonly values?: Item;
  readonly names?: Readonly<Record<string, string>>;
}

const placeholdersOf = ({ values, names }: Placeholders) => ({
  ...(values && { ExpressionAttributeValues: values }),
  ...(names && { ExpressionAttributeNames: names }),
});

type Outcome = "holds" | "does not hold" | "is refused";

const textOf = (expression: string) =>
  JSON.stringify(expression.length > 60 ? `${expression.slice(0, 60)}…` : expression);

const given = (placeholders: Placeholders) => {
  const text = Object.entries({ ...placeholders.names, ...placeholders.values }).map(
    ([name, value]) =>
      `${name} ${JSON.stringify(value, (_key, each) => (each instanceof Uint8Array ? [...each] : each)).replaceAll('"', "")}`,
  );
  return text.length === 0 || text.length > 3 ? "" : ` with ${text.join(", ")}`;
};

/** `item` is what the condition is about. */
export function conditionCases(item: Item, source: string) {
  return (expression: string, outcome: Outcome, placeholders: Placeholders = {}): DynamoDBCase => ({
    title: `the condition ${textOf(expression)} ${outcome}${given(placeholders)}`,
    source,
    run: async (subject) => {
      const at = await putPlain(subject, item);

      const call = subject.call("PutItem", {
        TableName: at.TableName,
        Item: at.Key,
        ConditionExpression: expression,
        ...placeholdersOf(placeholders),
      });

      if (outcome === "holds") await call;
      else
        await refused(
          call,
          outcome === "is refused" ? "ValidationException" : "ConditionalCheckFailedException",
        );
    },
  });
}

/** `changes` are the attributes after the update which differ from before; `undefined` for those that are gone. */
export function updateCases(item: Item, source: string) {
  return (
    expression: string,
    changes: Readonly<Record<string, Item[string] | undefined>> | "is refused",
    placeholders: Placeholders = {},
  ): DynamoDBCase => ({
    title: `the update ${textOf(expression)} ${changes === "is refused" ? changes : "changes what it says"}${given(placeholders)}`,
    source,
    run: async (subject) => {
      const at = await putPlain(subject, item);
      const before = await get(subject, at);

      const call = subject.call("UpdateItem", {
        ...at,
        UpdateExpression: expression,
        ReturnValues: "ALL_NEW",
        ...placeholdersOf(placeholders),
      });

      if (changes === "is refused") {
        await refused(call, "ValidationException");
        expect(await get(subject, at)).toEqual(before);
        return;
      }
      const after = Object.fromEntries(
        Object.entries({ ...before, ...changes }).filter(([, value]) => value !== undefined),
      );
      expect(sorted((await call).Attributes)).toEqual(sorted(after as Item));
      expect(sorted(await get(subject, at))).toEqual(sorted(after as Item));
    },
  });
}

export function projectionCases(item: Item, source: string) {
  return (
    expression: string,
    result: Item | "is refused",
    placeholders: Placeholders = {},
  ): DynamoDBCase => ({
    title: `the projection ${textOf(expression)} ${result === "is refused" ? result : "gives what it says"}`,
    source,
    run: async (subject) => {
      const at = await putPlain(subject, item);

      const call = subject.call("GetItem", {
        ...at,
        ProjectionExpression: expression,
        ...placeholdersOf(placeholders),
      });

      if (result === "is refused") await refused(call, "ValidationException");
      else expect((await call).Item).toEqual(result);
    },
  });
}

/** What an attribute is once it was stored; "is refused" where it cannot be. */
export function valueCases(source: string) {
  return (what: string, value: Item[string], stored: Item[string] | "is refused" = value): DynamoDBCase => ({
    title: `${what} ${stored === "is refused" ? "is refused as a value" : "is a value"}`,
    source,
    run: async (subject) => {
      const at = { TableName: await plainTable(subject), Key: newKey() };

      const call = subject.call("PutItem", { TableName: at.TableName, Item: { ...at.Key, value } });

      if (stored === "is refused") {
        await refused(call, "ValidationException");
        expect(await get(subject, at)).toBeUndefined();
        return;
      }
      await call;
      expect(await get(subject, at)).toEqual({ ...at.Key, value: stored });
    },
  });
}

/** Sets come in any order. */
export function sorted(item: Item | undefined): unknown {
  return JSON.parse(
    JSON.stringify(item ?? null, (name, value) => {
      if (value instanceof Uint8Array) return [...value];
      return /^[SNB]S$/.test(name) && Array.isArray(value) ? [...value].map(String).sort() : value;
    }),
  );
}
