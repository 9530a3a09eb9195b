/** Update expressions. https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.UpdateExpressions.html */
import type { AttributeType } from "../values/attribute-value.ts";
import { checkCount, checkType } from "./operand-checks.ts";
import { isStartOfPath, parsePath, parseValue } from "./parse-path.ts";
import { checkPathsAreApart } from "./path-overlap.ts";
import type { DocumentPath, Update, UpdateAction, UpdateOperand } from "./syntax.ts";
import type { TokenStream } from "./token-stream.ts";

type Section = UpdateAction["section"];

interface Part {
  readonly operand: UpdateOperand;
  readonly isInParentheses?: boolean;
}

const SECTIONS: readonly Section[] = ["SET", "REMOVE", "ADD", "DELETE"];

const SETS: readonly AttributeType[] = ["SS", "NS", "BS"];

export function parseUpdate(stream: TokenStream): Update {
  const actions: UpdateAction[] = [];
  const seen = new Set<Section>();
  do {
    const section = SECTIONS.find((each) => stream.nextIsKeyword(each));
    if (section === undefined) throw stream.syntaxError();
    stream.take();
    if (seen.has(section)) {
      throw stream.error(`The "${section}" section can only be used once in an update expression;`);
    }
    seen.add(section);
    do actions.push(parseAction(stream, section));
    while (stream.takesSymbol(","));
  } while (stream.next.kind !== "end");
  checkPathsAreApart(
    stream,
    actions.map(({ path }) => path),
  );
  return actions;
}

function parseAction(stream: TokenStream, section: Section): UpdateAction {
  stream.countOperator();
  const path = parsePath(stream);
  if (section === "REMOVE") return { section, path };
  if (section === "SET") {
    stream.expectSymbol("=");
    return { section, path, value: parseSum(stream).operand };
  }
  const value = parseValue(stream);
  checkType(stream, section, { kind: "value", value }, section === "ADD" ? ["N", ...SETS] : SETS);
  return { section, path, value };
}

/** Parentheses may enclose a whole sum, but not a part of a sum or an argument of a function. */
function parseSum(stream: TokenStream): Part {
  const part = parseUpdateOperand(stream, parseSum);
  if (part.operand.kind === "arithmetic") return part;
  const operator = (["+", "-"] as const).find((symbol) => stream.takesSymbol(symbol));
  if (operator === undefined) return part;
  stream.countOperator();
  const left = part.operand;
  const right = parseUpdateOperand(stream).operand;
  for (const operand of [left, right]) {
    if (operand.kind === "list_append") throw misused(stream, "list_append");
    checkType(stream, operator, operand, ["N"]);
  }
  return { operand: { kind: "arithmetic", operator, left, right } };
}

function parseUpdateOperand(stream: TokenStream, parseInner = parseUpdateOperand as typeof parseSum): Part {
  if (stream.takesSymbol("(")) {
    const { operand, isInParentheses } = parseInner(stream);
    stream.expectSymbol(")");
    if (isInParentheses) throw stream.error("The expression has redundant parentheses;");
    return { operand, isInParentheses: true };
  }
  if (stream.next.kind === "value") return { operand: { kind: "value", value: parseValue(stream) } };
  if (stream.next.kind === "word" && stream.afterNext.text === "(") {
    return { operand: parseUpdateFunction(stream) };
  }
  if (isStartOfPath(stream)) return { operand: { kind: "path", path: parsePath(stream) } };
  throw stream.syntaxError();
}

function parseUpdateFunction(stream: TokenStream): UpdateOperand {
  const name = stream.take().text;
  if (name !== "if_not_exists" && name !== "list_append") {
    throw stream.error(
      /^(attribute_(not_)?exists|attribute_type|begins_with|contains|size)$/.test(name)
        ? `The function is not allowed in an update expression; function: ${name}`
        : `Invalid function name; function: ${name}`,
    );
  }
  stream.countOperator();
  stream.expectSymbol("(");
  const operands: UpdateOperand[] = [];
  do operands.push(parseUpdateOperand(stream).operand);
  while (stream.takesSymbol(","));
  stream.expectSymbol(")");
  checkCount(stream, name, operands, 2);
  if (operands.some(({ kind }) => kind === "list_append")) throw misused(stream, "list_append");
  const [first, second] = operands as [UpdateOperand, UpdateOperand];
  if (name === "if_not_exists") {
    return { kind: name, path: pathOf(stream, first), otherwise: second };
  }
  for (const operand of operands) checkType(stream, name, operand, ["L"]);
  return { kind: name, first, second };
}

function pathOf(stream: TokenStream, operand: UpdateOperand): DocumentPath {
  if (operand.kind === "path") return operand.path;
  throw stream.error("Operator or function requires a document path; operator or function: if_not_exists");
}

function misused(stream: TokenStream, name: string) {
  return stream.error(`The function is not allowed to be used this way in an expression; function: ${name}`);
}
