/** The document paths that a condition looks at. */
import type { Condition, DocumentPath, Operand } from "./syntax.ts";

export function pathsIn(condition: Condition | undefined): readonly DocumentPath[] {
  switch (condition?.kind) {
    case undefined:
      return [];
    case "and":
    case "or":
      return [...pathsIn(condition.left), ...pathsIn(condition.right)];
    case "not":
      return pathsIn(condition.condition);
    case "compare":
      return [condition.left, condition.right].flatMap(pathsInOperand);
    case "between":
      return [condition.operand, condition.lower, condition.upper].flatMap(pathsInOperand);
    case "in":
      return [condition.operand, ...condition.options].flatMap(pathsInOperand);
    case "function":
      return condition.operands.flatMap(pathsInOperand);
  }
}

function pathsInOperand(operand: Operand): readonly DocumentPath[] {
  if (operand.kind === "path") return [operand.path];
  return operand.kind === "size" ? pathsInOperand(operand.of) : [];
}
