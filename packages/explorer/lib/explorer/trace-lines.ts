/** A run as lines for people: every request with its number, the disturbance marked. Pure. */
import { visible } from "onceonly/kit";
import { type FoldedSteps, type TraceStep, traceSteps } from "./trace-steps.ts";

const NUMBER_WIDTH = 4;
const TIME_WIDTH = 11;

/** With the arguments of `traceSteps`. */
export function traceLines(...run: Parameters<typeof traceSteps>): string {
  return linesOf(traceSteps(...run));
}

export function linesOf(steps: readonly (TraceStep | FoldedSteps)[]): string {
  return steps.map((step) => ("more" in step ? foldedLine(step) : shown(step))).join("\n");
}

function foldedLine({ more }: FoldedSteps): string {
  return `${" ".repeat(TIME_WIDTH + NUMBER_WIDTH)} … the same ${more} more time${more > 1 ? "s" : ""}`;
}

function shown({ at, point, text }: TraceStep): string {
  const time = `${(at / 1000).toFixed(3)} s`.padStart(TIME_WIDTH);
  return `${time} ${String(point ?? "").padStart(NUMBER_WIDTH)} ${visible(text)}`;
}
