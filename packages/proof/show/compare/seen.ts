// The observations of a run: how often the effect happened, and what each caller got, in words. Pure.
import { inspect } from "node:util";

export interface Seen {
  readonly effects: number;
  /** What each call got, in the order in which the calls were made. */
  readonly answers: readonly string[];
}

/** `order 1`, `201 order 1`, `422`, or the value as it is. */
export function answerInWords(answer: unknown): string {
  const { statusCode, body, ...rest } = Object(answer) as { statusCode?: number; body?: string };
  if (statusCode !== undefined) {
    const order = orderOf(JSON.parse(String(body)));
    return order === undefined ? String(statusCode) : `${statusCode} ${order}`;
  }
  return orderOf(rest) ?? inspect(answer, { breakLength: Number.POSITIVE_INFINITY, maxStringLength: 10 });
}

export function errorInWords(error: unknown): string {
  return `throws ${error instanceof Error ? error.name : String(error)}`;
}

function orderOf(value: unknown): string | undefined {
  const { order, ...rest } = Object(value) as { order?: number };
  return order === undefined || Object.keys(rest).length > 0 ? undefined : `order ${order}`;
}
