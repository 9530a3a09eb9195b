/** `onceonly release`: releases a key under a new token although its attempt's outcome is unknown. */
import { type ReleaseAnswer, releaseRecord } from "onceonly/kit";
import type { CliCommand, CommandCall, OptionsConfig } from "./command.ts";
import { changingGroup, GROUP_OPTIONS, GROUP_USAGE, groupIn, hasGroup, unknownKeys } from "./group.ts";
import { KEY_OPTIONS, KEY_USAGE, noRecord, operationOf, recordKeyIn } from "./named-key.ts";
import type { OpenTable } from "./open-table.ts";
import { stateOf } from "./record-state.ts";
import { BY_OPTIONS, BY_USAGE, byWhom, type Changed, changing, WRITE_OPTIONS, WRITE_USAGE } from "./table.ts";

const OPTIONS = {
  ...WRITE_OPTIONS,
  ...BY_OPTIONS,
  interrupt: { type: "boolean" },
} as const satisfies OptionsConfig;

export const release: CliCommand = {
  usage: `usage: onceonly release <key> [options]
       onceonly release --group <operation>[/<error>] [options]

Releases a key that is held or whose attempt was abandoned, so that a retry runs, however the attempt ended. A new token fences
the old attempt off. If you know how it ended, use \`resolve\` instead. A key in another state is left as it is, and the exit
status is 1.

  --interrupt                 also if the lease is live: the running attempt can't record anything any more${BY_USAGE}${KEY_USAGE}${GROUP_USAGE}${WRITE_USAGE}`,
  forms: [
    { name: "a group", is: hasGroup, options: { ...OPTIONS, ...GROUP_OPTIONS }, run: releaseGroup },
    { name: "a key", options: { ...OPTIONS, ...KEY_OPTIONS }, run: releaseKey },
  ],
};

async function releaseGroup(input: CommandCall): Promise<0 | 1> {
  const group = groupIn(input);
  return changingGroup(input, {
    keysOf: ({ store }) => unknownKeys(store, group, input.terminal.clock.now()),
    question: (count) => `${group}: release ${count} keys, so that retries run?`,
    change: releasing(input),
  });
}

async function releaseKey(input: CommandCall): Promise<0 | 1> {
  const change = releasing(input);
  const recordKey = recordKeyIn(input);
  const question = `${operationOf(recordKey)}: release the key, so that a retry runs?`;
  return changing(input, question, (table) => change(table, recordKey), stateOf(recordKey));
}

function releasing(input: CommandCall) {
  const { values, terminal } = input;
  const decided = { ...byWhom(values), ...(values.interrupt === true && { interrupts: true }) };
  return async ({ store }: OpenTable, recordKey: string): Promise<Changed> =>
    changed(await releaseRecord({ store, clock: terminal.clock }, recordKey, decided), input);
}

function changed(answer: ReleaseAnswer, input: CommandCall): Changed {
  return { done: answer.released, message: messageOf(answer, input), json: answer };
}

function messageOf(answer: ReleaseAnswer, input: CommandCall): string {
  if (answer.released) return "released";
  const { state, steps } = answer;
  if (state === "absent" && !hasGroup(input)) return `not released: ${noRecord(input)}`;
  if (steps)
    return `not released: the outcome of step ${steps.join(" and ")} is unknown: settle it with resolve --step`;
  const hint = state === "in-progress" ? ": pass --interrupt to fence its attempt off" : "";
  return `not released: the key is ${state}${hint}`;
}
