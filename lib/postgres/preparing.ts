/** Decides whether a client prepares statements: under a name, which the server parses and plans once per connection. */
import { hashTuple } from "../core/identity.ts";
import { sqlStateOf } from "./failures.ts";

/** The server doesn't have the name, has it already, or would return another type. The statement has not run. */
const NOT_PREPARED = /^(26|42P05|0A000)/;

const MAX_CHECKS = 3;

/** Each connection of each server keeps all of them, such as those of a table per tenant. */
const MAX_NAMES = 100;

export interface Preparing {
  /** Whether statements within a transaction are named. A name that the server doesn't have would abort the transaction. */
  readonly isWithin: boolean;
  /** Runs a statement that is a transaction by itself, and runs it again without a name if the server refuses the name. */
  alone<T>(run: (isNamed: boolean) => Promise<T>): Promise<T>;
}

/**
 * @param prepare the user's choice, if any
 * @param isDirect whether the server's process is the one that the connection began with: a transaction pooler has its own number
 */
export function preparing(prepare: boolean | undefined, isDirect: () => Promise<boolean>): Preparing {
  let isNamed = prepare;
  let checks = 0;
  const check = async () => {
    // Other calls don't wait for the answer.
    isNamed = false;
    isNamed = await isDirect().catch((error: unknown) =>
      sqlStateOf(error) === undefined && ++checks < MAX_CHECKS ? undefined : false,
    );
  };
  return {
    isWithin: prepare === true,
    async alone(run) {
      if (isNamed === undefined) await check();
      if (!isNamed) return run(false);
      try {
        return await run(true);
      } catch (error) {
        if (prepare || !NOT_PREPARED.test(sqlStateOf(error) ?? "")) throw error;
        isNamed = false;
        return run(false);
      }
    },
  };
}

/** By text. */
const names = new Map<string, string | undefined>();

/**
 * The name of a statement; absent if it isn't prepared. Two statements never share a name, even if other code prepares statements
 * on the same connection.
 */
export function nameOf(text: string): string | undefined {
  if (!names.has(text) && names.size < MAX_NAMES) names.set(text, isLookup(text) ? hash(text) : undefined);
  return names.get(text);
}

const hash = (text: string) => hashTuple("onceonly/statement/1", text);

/** A plan for any values suits a single key. The best plan for a range of rows depends on the values. */
const isLookup = (text: string) => text.includes("$1") && !/\bLIMIT\b/.test(text);
