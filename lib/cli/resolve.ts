/** `onceonly resolve`: a person's verdict about a key of unknown outcome. */
import { type Resolution, resolveOutcome } from "../core/resolve-outcome.ts";
import { type CliCommand, type OptionValues, onlyArgument, required, UsageError } from "./command.ts";
import { KEY_OPTIONS, KEY_USAGE } from "./find.ts";
import { changing, WRITE_OPTIONS, WRITE_USAGE } from "./table.ts";

export const resolve: CliCommand = {
  usage: `usage: onceonly resolve <idempotency key> --happened <JSON> | --did-not-happen [options]

Settles a key that is held, or whose attempt was abandoned. An attempt that is still alive is fenced off by a new token. A key
that is in progress, completed, failed or released stays as it is, and the exit status is 1.

  --happened <JSON>           the effect happened: the answer that each caller gets from then on
  --did-not-happen            the effect did not happen: a retry runs
  --step <name>               the verdict is about this step
  --retention <seconds>       how long the answer is kept (default 86400)
  --by <name>, --why <text>   stored with the record (required): no payloads, no secrets
${KEY_USAGE}${WRITE_USAGE}`,
  options: {
    ...WRITE_OPTIONS,
    ...KEY_OPTIONS,
    happened: { type: "string" },
    "did-not-happen": { type: "boolean" },
    step: { type: "string" },
    retention: { type: "string" },
  },
  async run({ values, positionals, terminal }) {
    const key = onlyArgument(positionals, "idempotency key");
    const operation = required(values, "operation");
    const resolution = resolutionOf(values);
    const about = resolution.step === undefined ? "the key" : `the step ${resolution.step}`;
    const question = `${operation}: say that ${about} ${resolution.outcome === "happened" ? "has happened" : "did not happen"}?`;
    return changing({ values, terminal }, question, async ({ store }) => {
      const answer = await resolveOutcome(
        {
          operation,
          store,
          clock: terminal.clock,
          ...(values.scope !== undefined && { scope: `${values.scope}` }),
          ...(values.retention !== undefined && { retentionSeconds: Number(values.retention) }),
        },
        key,
        resolution,
      );
      const told = answer.resolved ? "resolved" : `not resolved: the key is ${answer.state}`;
      return { done: answer.resolved, told, json: answer };
    });
  },
};

function resolutionOf(values: OptionValues): Resolution {
  const { happened, step } = values;
  if ((happened === undefined) === !values["did-not-happen"])
    throw new UsageError("give --happened <JSON> or --did-not-happen");
  const common = {
    by: required(values, "by"),
    why: required(values, "why"),
    ...(step !== undefined && { step: `${step}` }),
  };
  if (happened === undefined) return { outcome: "did-not-happen", ...common };
  return { outcome: "happened", result: parsed(`${happened}`), ...common };
}

/** The text may be personal, and so may what a parser says of it. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError("--happened takes JSON, such as '{\"statusCode\":201}', or null for no answer");
  }
}
