/** Key conditions: one partition, and optionally a range of its sort keys. https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Query.KeyConditionExpressions.html */
import { invalid, invalidParameterValues } from "../dynamodb-error.ts";
import type { KeyPart, KeySchema } from "../tables/key-schema.ts";
import { checkKeyValue } from "../tables/key-values.ts";
import { type AttributeValue, attributeOf, type Item, typeOf } from "../values/attribute-value.ts";
import { beginsWith, compares } from "./evaluate-condition.ts";
import { parseCondition } from "./parse-condition.ts";
import type { Comparator, Condition, Operand } from "./syntax.ts";
import type { TokenStream } from "./token-stream.ts";

export interface KeyCondition {
  readonly partition: AttributeValue;
  readonly isInRange: (key: Item) => boolean;
}

interface Restriction {
  readonly attribute: string;
  readonly isEquality: boolean;
  readonly values: readonly AttributeValue[];
  readonly admits: (value: AttributeValue) => boolean;
}

const SWAPPED: Readonly<Record<Comparator, Comparator>> = {
  "=": "=",
  "<>": "<>",
  "<": ">",
  "<=": ">=",
  ">": "<",
  ">=": "<=",
};

export function parseKeyCondition(stream: TokenStream): readonly Restriction[] {
  return restrictionsIn(parseCondition(stream));
}

export function keyConditionOf(restrictions: readonly Restriction[], schema: KeySchema): KeyCondition {
  if (restrictions.length > 2) throw invalid("Conditions can be of length 1 or 2 only");
  if (new Set(restrictions.map(({ attribute }) => attribute)).size < restrictions.length) {
    throw invalid("KeyConditionExpressions must only contain one condition per key");
  }
  const partition = restrictions.find(({ attribute }) => attribute === schema.partition.name);
  if (partition === undefined) throw missing(schema.partition);
  const range = restrictions.find((each) => each !== partition);
  if (range !== undefined && range.attribute !== schema.sort?.name)
    throw missing(schema.sort ?? schema.partition);
  const [value] = partition.values;
  if (value === undefined || !partition.isEquality) throw invalid("Query key condition not supported");
  checkValues(partition, schema.partition);
  if (range === undefined || schema.sort === undefined) return { partition: value, isInRange: () => true };
  checkValues(range, schema.sort);
  const { name } = schema.sort;
  return {
    partition: value,
    isInRange: (key) => {
      const sort = attributeOf(key, name);
      return sort !== undefined && range.admits(sort);
    },
  };
}

function restrictionsIn(condition: Condition): readonly Restriction[] {
  switch (condition.kind) {
    case "and":
      return [...restrictionsIn(condition.left), ...restrictionsIn(condition.right)];
    case "compare":
      return [comparison(condition)];
    case "between": {
      const [lower, upper] = [valueIn(condition.lower), valueIn(condition.upper)];
      return [
        {
          attribute: attributeIn(condition.operand),
          isEquality: false,
          values: [lower, upper],
          admits: (value) => compares(">=", value, lower) && compares("<=", value, upper),
        },
      ];
    }
    case "function": {
      const [operand, prefix] = condition.operands;
      if (condition.name !== "begins_with" || !operand || !prefix) throw unsupported(condition.name);
      const value = valueIn(prefix);
      return [
        {
          attribute: attributeIn(operand),
          isEquality: false,
          values: [value],
          admits: (each) => beginsWith(each, value),
        },
      ];
    }
    default:
      throw unsupported(condition.kind.toUpperCase());
  }
}

function comparison({ comparator, left, right }: Condition & { readonly kind: "compare" }): Restriction {
  if (comparator === "<>") throw unsupported(comparator);
  if (left.kind === "value") {
    return comparison({ kind: "compare", comparator: SWAPPED[comparator], left: right, right: left });
  }
  const value = valueIn(right);
  return {
    attribute: attributeIn(left),
    isEquality: comparator === "=",
    values: [value],
    admits: (each) => compares(comparator, each, value),
  };
}

function attributeIn(operand: Operand): string {
  if (operand.kind === "value") {
    throw invalid("Invalid condition in KeyConditionExpression: No key attribute specified");
  }
  if (operand.kind === "size") throw invalid("KeyConditionExpressions cannot contain nested operations");
  const [name, ...rest] = operand.path;
  if (rest.length === 0) return String(name);
  throw invalid(
    `Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: Key: ${name}`,
  );
}

function valueIn(operand: Operand): AttributeValue {
  if (operand.kind === "value") return operand.value;
  throw invalid(
    operand.kind === "size"
      ? "KeyConditionExpressions cannot contain nested operations"
      : "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition",
  );
}

function checkValues({ values }: Restriction, attribute: KeyPart): void {
  for (const value of values) {
    if (typeOf(value) !== attribute.type) {
      throw invalidParameterValues("Condition parameter type does not match schema type");
    }
    checkKeyValue(attribute, value);
  }
}

function missing({ name }: KeyPart) {
  return invalid(`Query condition missed key schema element: ${name}`);
}

function unsupported(operator: string) {
  return invalid(`Invalid operator used in KeyConditionExpression: ${operator}`);
}
