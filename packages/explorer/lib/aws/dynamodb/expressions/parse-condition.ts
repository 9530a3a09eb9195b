/**
 * Parses conditions, from the loosest binding to the tightest: OR, AND, NOT, comparison. Parentheses may hold
 * conditions and operands, so one rule reads both and a later check distinguishes them.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.OperatorsAndFunctions.html
 */
import { checkBetween, checkComparison, checkFunction, checkIn, checkSize } from "./operand-checks.ts";
import { isStartOfPath, parsePath, parseValue } from "./parse-path.ts";
import {
  COMPARATORS,
  CONDITION_FUNCTIONS,
  type Comparator,
  type Condition,
  type ConditionFunction,
  type Operand,
} from "./syntax.ts";
import type { TokenStream } from "./token-stream.ts";

interface Part {
  readonly condition?: Condition;
  readonly operand?: Operand;
  readonly isInParentheses?: boolean;
}

const MAX_OPTIONS = 100;

export function parseCondition(stream: TokenStream): Condition {
  return conditionIn(stream, parseOr(stream));
}

function parseOr(stream: TokenStream): Part {
  let part = parseAnd(stream);
  while (stream.takesKeyword("OR")) {
    stream.countOperator();
    const left = conditionIn(stream, part);
    part = { condition: { kind: "or", left, right: conditionIn(stream, parseAnd(stream)) } };
  }
  return part;
}

function parseAnd(stream: TokenStream): Part {
  let part = parseNot(stream);
  while (stream.takesKeyword("AND")) {
    stream.countOperator();
    const left = conditionIn(stream, part);
    part = { condition: { kind: "and", left, right: conditionIn(stream, parseNot(stream)) } };
  }
  return part;
}

function parseNot(stream: TokenStream): Part {
  if (!stream.takesKeyword("NOT")) return parseComparison(stream);
  stream.countOperator();
  return { condition: { kind: "not", condition: conditionIn(stream, parseNot(stream)) } };
}

function parseComparison(stream: TokenStream): Part {
  const part = parsePrimary(stream);
  const comparator = COMPARATORS.find((symbol) => stream.takesSymbol(symbol));
  if (comparator !== undefined) return parseCompared(stream, comparator, operandIn(stream, part));
  if (stream.takesKeyword("BETWEEN")) return parseBetween(stream, operandIn(stream, part));
  if (stream.takesKeyword("IN")) return parseIn(stream, operandIn(stream, part));
  return part;
}

function parseCompared(stream: TokenStream, comparator: Comparator, left: Operand): Part {
  stream.countOperator();
  const right = operandIn(stream, parsePrimary(stream));
  checkComparison(stream, comparator, left, right);
  return { condition: { kind: "compare", comparator, left, right } };
}

function parseBetween(stream: TokenStream, operand: Operand): Part {
  stream.countOperator();
  const lower = operandIn(stream, parsePrimary(stream));
  if (!stream.takesKeyword("AND")) throw stream.syntaxError();
  const upper = operandIn(stream, parsePrimary(stream));
  checkBetween(stream, operand, lower, upper);
  return { condition: { kind: "between", operand, lower, upper } };
}

function parseIn(stream: TokenStream, operand: Operand): Part {
  stream.countOperator();
  const options = parseOperands(stream);
  if (options.length > MAX_OPTIONS) {
    throw stream.error(
      `The IN operator is provided with too many operands; number of operands: ${options.length}`,
    );
  }
  checkIn(stream, operand, options);
  return { condition: { kind: "in", operand, options } };
}

function parsePrimary(stream: TokenStream): Part {
  if (stream.takesSymbol("(")) {
    const part = parseOr(stream);
    stream.expectSymbol(")");
    if (part.isInParentheses) throw stream.error("The expression has redundant parentheses;");
    return { ...part, isInParentheses: true };
  }
  if (stream.next.kind === "value") return { operand: { kind: "value", value: parseValue(stream) } };
  if (stream.next.kind === "word" && stream.afterNext.text === "(") return parseFunction(stream);
  if (isStartOfPath(stream)) return { operand: { kind: "path", path: parsePath(stream) } };
  throw stream.syntaxError();
}

function parseFunction(stream: TokenStream): Part {
  const name = stream.next.text;
  const isFunction = name === "size" || CONDITION_FUNCTIONS.some((each) => each === name);
  if (!isFunction) {
    // "NOT (" and similar beginnings arrive here when an operand is expected.
    if (/^(AND|OR|NOT|BETWEEN|IN)$/i.test(name)) throw stream.syntaxError();
    throw stream.error(`Invalid function name; function: ${name}`);
  }
  stream.take();
  stream.countOperator();
  const operands = parseOperands(stream);
  if (name === "size") {
    return { operand: { kind: "size", of: checkSize(stream, operands) } };
  }
  checkFunction(stream, name as ConditionFunction, operands);
  return { condition: { kind: "function", name: name as ConditionFunction, operands } };
}

function parseOperands(stream: TokenStream): readonly Operand[] {
  stream.expectSymbol("(");
  const operands: Operand[] = [];
  do operands.push(operandIn(stream, parsePrimary(stream)));
  while (stream.takesSymbol(","));
  stream.expectSymbol(")");
  return operands;
}

function conditionIn(stream: TokenStream, { condition, operand }: Part): Condition {
  if (condition !== undefined) return condition;
  if (operand?.kind === "size") throw misused(stream, "size");
  throw stream.syntaxError();
}

function operandIn(stream: TokenStream, { condition, operand }: Part): Operand {
  if (operand !== undefined) return operand;
  if (condition?.kind === "function") throw misused(stream, condition.name);
  throw stream.syntaxError();
}

function misused(stream: TokenStream, name: string) {
  return stream.error(`The function is not allowed to be used this way in an expression; function: ${name}`);
}
