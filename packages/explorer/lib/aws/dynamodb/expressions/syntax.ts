/** The parsed form of expressions. Placeholders are replaced by the names and values that they stand for. */
import type { AttributeValue } from "../values/attribute-value.ts";

/** Attribute names and list indexes, from the outermost inwards. */
export type DocumentPath = readonly (string | number)[];

export interface PathOperand {
  readonly kind: "path";
  readonly path: DocumentPath;
}

export interface ValueOperand {
  readonly kind: "value";
  readonly value: AttributeValue;
}

export interface SizeOperand {
  readonly kind: "size";
  readonly of: Operand;
}

export type Operand = PathOperand | ValueOperand | SizeOperand;

export const COMPARATORS = ["=", "<>", "<", "<=", ">", ">="] as const;
export type Comparator = (typeof COMPARATORS)[number];

export const CONDITION_FUNCTIONS = [
  "attribute_exists",
  "attribute_not_exists",
  "attribute_type",
  "begins_with",
  "contains",
] as const;
export type ConditionFunction = (typeof CONDITION_FUNCTIONS)[number];

export type Condition =
  | { readonly kind: "and" | "or"; readonly left: Condition; readonly right: Condition }
  | { readonly kind: "not"; readonly condition: Condition }
  | {
      readonly kind: "compare";
      readonly comparator: Comparator;
      readonly left: Operand;
      readonly right: Operand;
    }
  | { readonly kind: "between"; readonly operand: Operand; readonly lower: Operand; readonly upper: Operand }
  | { readonly kind: "in"; readonly operand: Operand; readonly options: readonly Operand[] }
  | {
      readonly kind: "function";
      readonly name: ConditionFunction;
      readonly operands: readonly Operand[];
    };

export type UpdateOperand =
  | PathOperand
  | ValueOperand
  | { readonly kind: "if_not_exists"; readonly path: DocumentPath; readonly otherwise: UpdateOperand }
  | { readonly kind: "list_append"; readonly first: UpdateOperand; readonly second: UpdateOperand }
  | {
      readonly kind: "arithmetic";
      readonly operator: "+" | "-";
      readonly left: UpdateOperand;
      readonly right: UpdateOperand;
    };

export type UpdateAction =
  | { readonly section: "SET"; readonly path: DocumentPath; readonly value: UpdateOperand }
  | { readonly section: "REMOVE"; readonly path: DocumentPath }
  | { readonly section: "ADD" | "DELETE"; readonly path: DocumentPath; readonly value: AttributeValue };

export type Update = readonly UpdateAction[];
