// Starts a stack of templates written by hand, and reads what its functions print.
import { rm } from "node:fs/promises";
import { type RunningStack, type StartStackOptions, startStack } from "../../lib/index.ts";
import { assemblyOf, functionResource } from "./given.ts";

/** For templates without a table: nobody listens there. */
const NO_DYNAMODB = "http://127.0.0.1:9";

export interface StackUnderTest extends RunningStack {
  /** What the run logged, the lines of functions included. */
  readonly lines: readonly string[];
  /** What the functions printed as JSON, in the order in which they did. */
  printed<T = unknown>(): T[];
}

export async function startTemplate(
  resources: Record<string, object>,
  cleanups: (() => Promise<void>)[],
  options: Partial<StartStackOptions> & { outputs?: Record<string, unknown> } = {},
): Promise<StackUnderTest> {
  const { outputs = {}, ...startOptions } = options;
  const Outputs = Object.fromEntries(Object.entries(outputs).map(([name, Value]) => [name, { Value }]));
  const folder = await assemblyOf({ App: { Resources: resources, Outputs } });
  cleanups.push(() => rm(folder, { recursive: true }));
  const lines: string[] = [];
  const log = (line: string) => void lines.push(line);
  const stack = await startStack({ folder, dynamodbEndpoint: NO_DYNAMODB, log, ...startOptions });
  cleanups.push(stack.stop);
  return {
    ...stack,
    lines,
    printed: <T>() =>
      lines.flatMap((line) => (/\t(\{.*)$/.test(line) ? [JSON.parse(/\t(\{.*)$/.exec(line)![1]!) as T] : [])),
  };
}

/** @param body of the handler; it has `event`, `context` and `print` */
export function inlineFunction(body: string, more: object = {}): object {
  const print = "const print = (value) => console.log(JSON.stringify(value));";
  const ZipFile = `${print}\nexports.handler = async (event, context) => { ${body} };`;
  return functionResource("index.handler", { Code: { ZipFile }, ...more });
}

/**
 * Resolves to what a function, an engine or a queue is about to do. Unlike the wait of the kit it looks every 5 ms and
 * never gives up: vitest ends the test.
 */
export async function until<T>(
  ask: () => T | undefined | false | Promise<T | undefined | false>,
): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
