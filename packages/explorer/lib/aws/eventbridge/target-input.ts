/**
 * Builds a target's input: the whole event, a fixed input, the part at `InputPath`, or the result of `InputTransformer`. Pure.
 * https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-transform-target-input.html
 */
import { invalid } from "./eventbridge-error.ts";
import type { RuleTarget } from "./operations.ts";

/** An event as rules match it, and as targets get it. */
export interface BusEvent {
  readonly version: "0";
  readonly id: string;
  readonly "detail-type": string;
  readonly source: string;
  readonly account: string;
  /** Precise to the second. */
  readonly time: string;
  readonly region: string;
  readonly resources: readonly string[];
  readonly detail: unknown;
}

export interface RuleIdentity {
  readonly name: string;
  readonly arn: string;
}

const PATH = /^\$((\.[\w-]+|\[\d+\])*)$/;
const PLACEHOLDER = /<([\w.-]+)>/g;

/** JSON text. */
export function targetInput(
  event: BusEvent,
  { Input, InputPath, InputTransformer }: Pick<RuleTarget, "Input" | "InputPath" | "InputTransformer">,
  rule: RuleIdentity,
): string {
  if (Input !== undefined) return Input;
  if (InputTransformer === undefined) return JSON.stringify(valueAt(event, InputPath ?? "$") ?? {});
  const { InputPathsMap = {}, InputTemplate } = InputTransformer;
  const known: Record<string, unknown> = {
    "aws.events.event": event,
    "aws.events.event.json": event,
    "aws.events.rule-arn": rule.arn,
    "aws.events.rule-name": rule.name,
    "aws.events.event.ingestion-time": event.time,
  };
  for (const [name, path] of Object.entries(InputPathsMap)) known[name] = valueAt(event, path) ?? "";
  return InputTemplate.replaceAll(PLACEHOLDER, (_, name: string, at: number) =>
    isQuoted(InputTemplate, at) ? quotable(known[name]) : JSON.stringify(known[name] ?? ""),
  );
}

export function checkPath(path: string): void {
  if (!PATH.test(path)) throw invalid(`the model supports paths such as $.detail.id (got ${path})`);
}

/** `undefined` when the event has nothing at the path. */
function valueAt(event: unknown, path: string): unknown {
  checkPath(path);
  let value = event;
  for (const [, name, index] of path.matchAll(/\.([\w-]+)|\[(\d+)\]/g)) {
    value = Object(value)[name ?? Number(index)];
  }
  return value;
}

function isQuoted(template: string, at: number): boolean {
  return (template.slice(0, at).match(/(?<!\\)"/g) ?? []).length % 2 === 1;
}

/** Inside quotes a string gets no further quotes, and the quotes in it are escaped. */
function quotable(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value ?? "");
  return JSON.stringify(text).slice(1, -1);
}
