/** `onceonly erase`: drops a stored answer, and keeps the fact that the operation happened. */
import { type CliCommand, onlyArgument, required } from "./command.ts";
import { KEY_OPTIONS, KEY_USAGE } from "./find.ts";
import { changing, WRITE_OPTIONS, WRITE_USAGE } from "./table.ts";

export const erase: CliCommand = {
  usage: `usage: onceonly erase <idempotency key> [options]

Erases the stored answer of a key that is completed or has failed. The record stays until its retention is over: nothing runs
again under the key. A key in another state, or with messages that wait, stays as it is, and the exit status is 1.

  --by <name>, --why <text>   stored with the record (required): no payloads, no secrets
${KEY_USAGE}${WRITE_USAGE}`,
  options: { ...WRITE_OPTIONS, ...KEY_OPTIONS },
  async run({ values, positionals, terminal }) {
    const key = onlyArgument(positionals, "idempotency key");
    const operation = required(values, "operation");
    const erasure = { by: required(values, "by"), why: required(values, "why") };
    const scope = values.scope === undefined ? {} : { scope: `${values.scope}` };
    const question = `${operation}: erase the stored answer for good?`;
    return changing({ values, terminal }, question, async ({ store }) => {
      const { clock } = terminal;
      const { eraseResult } = await import("../dynamodb/erase-result.ts");
      const answer = await eraseResult({ store, ...scope, operation, clock }, key, erasure);
      const told = answer.erased
        ? "erased"
        : `not erased: ${WHY_NOT[answer.state] ?? `the key is ${answer.state}`}`;
      return { done: answer.erased, told, json: answer };
    });
  },
};

const WHY_NOT: Readonly<Record<string, string>> = {
  waiting: "messages of it wait to be sent: send or drop them first",
};
