/** `onceonly resolve`: a person's verdict about a key of unknown outcome. */
import { type Resolution, type ResolveAnswer, resolveOutcome, resolveRecord } from "onceonly/kit";
import {
  type CliCommand,
  type CommandCall,
  type OptionsConfig,
  type OptionValues,
  onlyArgument,
  required,
  UsageError,
  wholeNumber,
} from "./command.ts";
import { KEY_OPTIONS, KEY_USAGE, noRecord } from "./find.ts";
import { changingGroup, GROUP_OPTIONS, GROUP_USAGE, groupIn, hasGroup, unknownKeys } from "./group.ts";
import { BY_OPTIONS, BY_USAGE, byWhom, type Changed, changing, WRITE_OPTIONS, WRITE_USAGE } from "./table.ts";

const OPTIONS = {
  ...WRITE_OPTIONS,
  ...BY_OPTIONS,
  happened: { type: "string" },
  "did-not-happen": { type: "boolean" },
  step: { type: "string" },
  retention: { type: "string" },
} as const satisfies OptionsConfig;

export const resolve: CliCommand = {
  usage: `usage: onceonly resolve <idempotency key> --happened <JSON> | --did-not-happen [options]
       onceonly resolve --group <operation>[/<error>] --happened <JSON> | --did-not-happen [options]

Settles a key that is held or whose attempt was abandoned. A new token fences off an attempt that is still alive. A key that is
in progress, completed, failed or released is left as it is, and the exit status is 1.

  --happened <JSON>           the effect happened: from now on every caller gets this answer
  --did-not-happen            the effect didn't happen: a retry runs
  --step <name>               settle this step instead of the whole key
  --retention <seconds>       how long the answer is kept (default 31622400, 366 days)${BY_USAGE}${KEY_USAGE}${GROUP_USAGE}${WRITE_USAGE}`,
  forms: [
    { name: "a group", is: hasGroup, options: { ...OPTIONS, ...GROUP_OPTIONS }, run: resolveGroup },
    { name: "a key", options: { ...OPTIONS, ...KEY_OPTIONS }, run: resolveKey },
  ],
};

async function resolveGroup(input: CommandCall): Promise<0 | 1> {
  const group = groupIn(input);
  const { resolution, settings, verdict } = verdictOf(input);
  return changingGroup(input, {
    keysOf: ({ store }) => unknownKeys(store, group, input.terminal.clock.now()),
    question: (count) => `${group}: record for ${count} keys that ${verdict}?`,
    change: async ({ store }, recordKey) =>
      changed(await resolveRecord({ store, ...settings }, recordKey, resolution), input.values),
  });
}

async function resolveKey(input: CommandCall): Promise<0 | 1> {
  const { values, positionals } = input;
  const { resolution, settings, verdict } = verdictOf(input);
  const key = onlyArgument(positionals, "idempotency key");
  const operation = required(values, "operation");
  return changing(input, `${operation}: record that ${verdict}?`, async ({ store }) => {
    const scope = values.scope === undefined ? {} : { scope: `${values.scope}` };
    return changed(
      await resolveOutcome({ operation, store, ...scope, ...settings }, key, resolution),
      values,
    );
  });
}

/** @throws UsageError */
function verdictOf({ values, terminal }: CommandCall) {
  const resolution = resolutionOf(values);
  const settings = {
    clock: terminal.clock,
    ...(values.retention !== undefined && { retentionSeconds: wholeNumber(values, "retention", 1) }),
  };
  const about = resolution.step === undefined ? "the effect" : `the step ${resolution.step}`;
  const verdict = `${about} ${resolution.outcome === "happened" ? "happened" : "did not happen"}`;
  return { resolution, settings, verdict };
}

function changed(answer: ResolveAnswer, values: OptionValues): Changed {
  if (answer.resolved) return { done: true, message: "resolved", json: answer };
  const isMissing = answer.state === "absent" && values.group === undefined;
  const why = isMissing ? noRecord(values) : `the key is ${answer.state}`;
  return { done: false, message: `not resolved: ${why}`, json: answer };
}

function resolutionOf(values: OptionValues): Resolution {
  const { happened, step } = values;
  if ((happened === undefined) === !values["did-not-happen"])
    throw new UsageError("pass either --happened <JSON> or --did-not-happen");
  const common = {
    ...byWhom(values),
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
    throw new UsageError("--happened must be JSON, such as '{\"statusCode\":201}', or null for no answer");
  }
}
