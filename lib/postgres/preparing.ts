/** Decides whether a client prepares statements: under a name, which the server parses and plans once per connection. */
import { hashTuple } from "../core/identity.ts";
import { sqlStateOf } from "./failures.ts";

/** The server doesn't have the name, has it already, or would return another type. The statement has not run. */
const NOT_PREPARED = /^(26|42P05|0A000)/;

/** SQLSTATE classes: the connection failed, the server has no free connection, or it's starting or shutting down. */
const NO_SESSION = /^(08|53|57)/;

/** Each connection of each server keeps all of them, such as those of a table per tenant. */
const MAX_NAMES = 100;

export interface Preparing {
  /** The name of a statement within a transaction, if it has one. A name that the server doesn't have would abort it. */
  nameWithin(text: string): string | undefined;
  /** Runs a statement that is a transaction by itself, and runs it again without a name if the server refuses the name. */
  alone<T>(text: string, run: (name: string | undefined) => Promise<T>): Promise<T>;
}

/** By text, for each client: two adapters may share one. */
const namesByClient = new WeakMap<object, Map<string, string>>();

/**
 * @param prepare the user's choice, if any
 * @param isDirect whether the server's process is the one that the connection began with: a transaction pooler has its own number
 */
export function preparing(
  client: object,
  prepare: boolean | undefined,
  isDirect: () => Promise<boolean>,
): Preparing {
  const names = namesByClient.get(client) ?? new Map<string, string>();
  namesByClient.set(client, names);
  let isOn = prepare;
  const check = async () => {
    // Other calls don't wait for the answer.
    isOn = false;
    isOn = await isDirect().catch((error: unknown) => {
      const state = sqlStateOf(error);
      if ((state !== undefined && !NO_SESSION.test(state)) || error instanceof TypeError) return false;
      // Without a connection the statement would fail too, after waiting for the same time again.
      isOn = undefined;
      throw error;
    });
  };
  return {
    nameWithin: (text) => (prepare ? nameOf(text, names) : undefined),
    async alone(text, run) {
      if (isOn === undefined) await check();
      const name = isOn ? nameOf(text, names) : undefined;
      if (name === undefined) return run(undefined);
      try {
        return await run(name);
      } catch (error) {
        if (prepare || !NOT_PREPARED.test(sqlStateOf(error) ?? "")) throw error;
        isOn = false;
        return run(undefined);
      }
    },
  };
}

/** Two statements never share a name, even if other code prepares statements on the same connection. */
function nameOf(text: string, names: Map<string, string>): string | undefined {
  const known = names.get(text);
  if (known !== undefined || names.size >= MAX_NAMES || !isLookup(text)) return known;
  const name = hashTuple("onceonly/statement/1", text);
  names.set(text, name);
  return name;
}

/** A plan for any values suits a single key. The best plan for a range of rows depends on the values. */
const isLookup = (text: string) => text.includes("$1") && !/\bLIMIT\b/.test(text);
