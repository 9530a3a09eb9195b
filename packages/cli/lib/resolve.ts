/** `onceonly resolve`: a person's verdict about a key of unknown outcome. */
import { type Resolution, type ResolveAnswer, resolveRecord } from "onceonly/kit";
import { aboutAnswer, jsonAnswer, responseAnswer } from "./answer.ts";
import {
  type CliCommand,
  type CommandCall,
  type OptionsConfig,
  type OptionValues,
  UsageError,
  wholeNumber,
} from "./command.ts";
import { CONSEQUENCES } from "./consequences.ts";
import { changingGroup, GROUP_OPTIONS, GROUP_USAGE, groupIn, hasGroup, unknownKeys } from "./group.ts";
import { KEY_OPTIONS, KEY_USAGE, noRecord, operationOf, recordKeyIn } from "./named-key.ts";
import { timeOf } from "./record-lines.ts";
import { stateOf } from "./record-state.ts";
import { BY_OPTIONS, BY_USAGE, byWhom, type Changed, changing, WRITE_OPTIONS, WRITE_USAGE } from "./table.ts";

const OPTIONS = {
  ...WRITE_OPTIONS,
  ...BY_OPTIONS,
  happened: { type: "string" },
  status: { type: "string" },
  body: { type: "string" },
  header: { type: "string", multiple: true },
  "did-not-happen": { type: "boolean" },
  step: { type: "string" },
  retention: { type: "string" },
  "even-though-answered": { type: "boolean" },
} as const satisfies OptionsConfig;

export const resolve: CliCommand = {
  usage: `usage: onceonly resolve <key> --happened <JSON> | --status <code> [--body <text>] | --did-not-happen [options]
       onceonly resolve --group <operation>[/<error>] --happened <JSON> | --status <code> | --did-not-happen [options]

Settles a key that is held or whose attempt was abandoned. A new token fences off an attempt that is still alive. A key that is
in progress, completed, failed or released is left as it is, and the exit status is 1.

  --happened <JSON>           the effect happened: from now on every caller gets this answer. The handler doesn't run again, so
                              its own writes and messages in \`commit\` aren't made
  --status <code>, --body <text>, --header <name: value>
                              the same for an HTTP operation: the response that every caller gets
  --did-not-happen            the effect didn't happen: a retry runs
  --step <name>               settle this step instead of the whole key
  --even-though-answered      correct an earlier decision about the key, although callers may already have received its answer
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
      changed(await resolving({ store, ...settings }, recordKey, resolution), input),
  });
}

async function resolveKey(input: CommandCall): Promise<0 | 1> {
  const { resolution, settings, verdict } = verdictOf(input);
  const recordKey = recordKeyIn(input);
  const question = `${operationOf(recordKey)}: record that ${verdict}?`;
  return changing(
    input,
    question,
    async ({ store }) => changed(await resolving({ store, ...settings }, recordKey, resolution), input),
    stateOf(recordKey, ...consequences(resolution)),
  );
}

/** @throws UsageError for an answer that the callers of the operation can't read, with an example */
async function resolving(...given: Parameters<typeof resolveRecord<never>>): Promise<ResolveAnswer> {
  return resolveRecord(...given).catch((error: unknown) => {
    throw aboutAnswer(
      error,
      'pass --status 201 --body \'{"id":"ch_1"}\', or --happened with { statusCode, headers, body }',
    );
  });
}

/** What follows from the decision. The answer is shown to the person who typed it. */
function consequences(resolution: Resolution): readonly string[] {
  const { outcome, step, evenThoughAnswered } = resolution;
  const answered = evenThoughAnswered ? [CONSEQUENCES.answered] : [];
  if (outcome === "did-not-happen") return [...answered, CONSEQUENCES.runs];
  const result = JSON.stringify(resolution.result);
  if (step !== undefined) return [`the step's result will be: ${result}`, CONSEQUENCES.stepHappened];
  return [...answered, `every caller will get: ${result}`, CONSEQUENCES.happened];
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

function changed(answer: ResolveAnswer, input: CommandCall): Changed {
  if (answer.resolved) return { done: true, message: "resolved", json: answer };
  const { state, decided } = answer;
  const isMissing = state === "absent" && !hasGroup(input);
  const by = decided && `, decided by ${decided.by}, ${timeOf(decided.at, input.terminal.clock.now())}`;
  const hint = decided ? `${by}: to correct that, pass --even-though-answered` : (HINTS[state] ?? "");
  const why = isMissing ? noRecord(input) : `the key is ${state}${hint}`;
  return { done: false, message: `not resolved: ${why}`, json: answer };
}

const RAN = " by its handler: to run it again, use `rerun`";
const HINTS: Readonly<Record<string, string>> = { completed: RAN, failed: RAN };

function resolutionOf(values: OptionValues): Resolution {
  const { step } = values;
  const result = resultOf(values);
  if (!result === !values["did-not-happen"])
    throw new UsageError(
      "pass either --happened <JSON> or --did-not-happen (or --status <code> for an HTTP operation)",
    );
  const common = {
    ...byWhom(values),
    ...(step !== undefined && { step: `${step}` }),
    ...(values["even-though-answered"] === true && { evenThoughAnswered: true }),
  };
  return result
    ? { outcome: "happened", result: result.value, ...common }
    : { outcome: "did-not-happen", ...common };
}

/** The answer of an effect that happened. @throws UsageError */
function resultOf({ happened, status, body, header }: OptionValues): { readonly value: unknown } | undefined {
  const isResponse = status !== undefined;
  if (!isResponse && (body !== undefined || header !== undefined))
    throw new UsageError("--body and --header need --status");
  if (isResponse && happened !== undefined) throw new UsageError("pass either --happened or --status");
  if (happened !== undefined) return { value: jsonAnswer(`${happened}`, "--happened") };
  if (!isResponse) return undefined;
  const headers = Object.fromEntries(((header as readonly string[] | undefined) ?? []).map(headerOf));
  return { value: responseAnswer(`${status}`, `${body ?? ""}`, "--status", headers) };
}

function headerOf(text: string): [string, string] {
  const colon = text.indexOf(":");
  if (colon < 1) throw new UsageError('--header must be "name: value"');
  return [text.slice(0, colon).trim().toLowerCase(), text.slice(colon + 1).trim()];
}
