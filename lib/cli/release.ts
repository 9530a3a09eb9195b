/** `onceonly release`: gives a key back under a new token, although nobody knows how its attempt ended. */
import { identify, PUBLIC_SCOPE } from "../core/identity.ts";
import { type ReleaseAnswer, releaseRecord } from "../core/release-record.ts";
import { type CliCommand, onlyArgument, required } from "./command.ts";
import { KEY_OPTIONS, KEY_USAGE } from "./find.ts";
import { changingGroup, GROUP_OPTIONS, GROUP_USAGE, groupIn, unknownKeys } from "./group.ts";
import {
  BY_OPTIONS,
  BY_USAGE,
  byWhom,
  type Changed,
  changing,
  type OpenTable,
  WRITE_OPTIONS,
  WRITE_USAGE,
} from "./table.ts";

export const release: CliCommand = {
  usage: `usage: onceonly release <idempotency key> [options]
       onceonly release --group <operation>[/<error>] [options]

Gives back a key that is held, or whose attempt was abandoned: a retry runs, whatever became of the attempt. A new token fences
the attempt off. Take \`resolve\` where you know how it ended. A key in another state stays as it is, and the exit status is 1.

  --interrupt                 also where the lease is live: the attempt that runs records nothing any more${BY_USAGE}${KEY_USAGE}${GROUP_USAGE}${WRITE_USAGE}`,
  options: {
    ...WRITE_OPTIONS,
    ...BY_OPTIONS,
    ...KEY_OPTIONS,
    ...GROUP_OPTIONS,
    interrupt: { type: "boolean" },
  },
  async run(input) {
    const { values, positionals, terminal } = input;
    const group = groupIn(input);
    const decided = {
      ...byWhom(values),
      ...(values.interrupt === true && { interrupts: true }),
    };
    const change = async ({ store }: OpenTable, recordKey: string) =>
      changed(await releaseRecord({ store, clock: terminal.clock }, recordKey, decided));
    if (group !== undefined) {
      return changingGroup(input, {
        keysOf: ({ store }) => unknownKeys(store, group, terminal.clock.now()),
        question: (count) => `${group}: give ${count} keys back, so that retries run?`,
        change,
      });
    }
    const key = onlyArgument(positionals, "idempotency key");
    const operation = required(values, "operation");
    const { recordKey } = identify(operation, `${values.scope ?? PUBLIC_SCOPE}`, key);
    const question = `${operation}: give the key back, so that a retry runs?`;
    return changing(input, question, (table) => change(table, recordKey));
  },
};

function changed(answer: ReleaseAnswer): Changed {
  return { done: answer.released, told: toldOf(answer), json: answer };
}

function toldOf(answer: ReleaseAnswer): string {
  if (answer.released) return "released";
  const { state, steps } = answer;
  if (steps)
    return `not released: nobody knows how step ${steps.join(" and ")} ended: resolve --step says it`;
  const hint = state === "in-progress" ? ": --interrupt fences its attempt off" : "";
  return `not released: the key is ${state}${hint}`;
}
