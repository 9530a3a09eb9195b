/** `onceonly rerun`: lets the next call of a finished key run its handler again. */
import { rerunRecord } from "onceonly/kit";
import type { CliCommand } from "./command.ts";
import { CONSEQUENCES } from "./consequences.ts";
import { KEY_OPTIONS, KEY_USAGE, noRecord, operationOf, recordKeyIn } from "./named-key.ts";
import { stateOf } from "./record-state.ts";
import { BY_OPTIONS, BY_USAGE, byWhom, changing, WRITE_OPTIONS, WRITE_USAGE } from "./table.ts";

export const rerun: CliCommand = {
  usage: `usage: onceonly rerun <key> [options]

Lets the next call of a completed or failed key run its handler again: for a final error whose cause is gone, or a result that
must not be replayed any longer. The previous result stays in the record as evidence (\`find --show-result\`), if it's short.
A key with unsent messages is left as it is, and so is one in another state; the exit status is then 1.

The handler gets the same child keys. A system that deduplicates by them may answer as it did the first time. Messages get the
same keys too, so consumers that have handled them replay.
${BY_USAGE}${KEY_USAGE}${WRITE_USAGE}`,
  options: { ...WRITE_OPTIONS, ...BY_OPTIONS, ...KEY_OPTIONS },
  async run(input) {
    const { values, terminal } = input;
    const decided = byWhom(values);
    const recordKey = recordKeyIn(input);
    return changing(
      input,
      `${operationOf(recordKey)}: let the next call run the handler again?`,
      async ({ store }) => {
        const answer = await rerunRecord({ store, clock: terminal.clock }, recordKey, decided);
        const message = answer.rerun
          ? "the next call runs the handler again"
          : `not changed: ${answer.state === "absent" ? noRecord(input) : whyNotRerun(answer.state)}`;
        return { done: answer.rerun, message, json: answer };
      },
      stateOf(recordKey, CONSEQUENCES.rerun),
    );
  },
};

const WHY_NOT: Readonly<Record<string, string>> = {
  waiting: "it has unsent messages: send or drop them first, with `outbox`",
  held: "the key is held: use `resolve`",
  forked: "it was forked, so it runs again under the key of its fork",
};

/** Why a key in this state can't run again. */
export const whyNotRerun = (state: string): string => WHY_NOT[state] ?? `the key is ${state}, not finished`;
