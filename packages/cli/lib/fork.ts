/** `onceonly fork`: runs an operation again from one of its steps, under a new key. */
import {
  type ForkAnswer,
  forkableSteps,
  forkRecord,
  hasCode,
  type IdempotencyRecord,
  isHttpToken,
  planFork,
} from "onceonly/kit";
import { aboutStore } from "./answer.ts";
import { type CliCommand, type CommandCall, required, UsageError } from "./command.ts";
import { CONSEQUENCES } from "./consequences.ts";
import { KEY_OPTIONS, KEY_USAGE, noRecord, operationOf, recordKeyIn } from "./named-key.ts";
import type { OpenTable } from "./open-table.ts";
import { stateOf } from "./record-state.ts";
import {
  BY_OPTIONS,
  BY_USAGE,
  byWhom,
  type Changed,
  changing,
  openTable,
  WRITE_OPTIONS,
  WRITE_USAGE,
} from "./table.ts";

export const fork: CliCommand = {
  usage: `usage: onceonly fork <key> [--from <step> --as <new key>] [options]

Runs an operation again from one of its steps, under a new key, to repair what a bad deployment did. The results of the steps
before it are copied, and the command prints how to run the rest. A finished original isn't changed, so \`find\` shows the fork
only under its own key; callers of any other original get an error (HTTP 409) from then on. Without --from the command lists the steps, and the exit status is 1. A finished
record has its steps only if the handler sets \`keepSteps\`. A key in progress, or with unsent messages, is left as it is.

  --from <step>               the first step that runs again; in a saga <saga>/<step>
  --as <new key>              the idempotency key of the fork, in the same operation and scope
  --even-though-started       fork although a step was started and may have happened: the fork runs it under a new child key
${BY_USAGE}${KEY_USAGE}${WRITE_USAGE}`,
  options: {
    ...WRITE_OPTIONS,
    ...BY_OPTIONS,
    ...KEY_OPTIONS,
    from: { type: "string" },
    as: { type: "string" },
    "even-though-started": { type: "boolean" },
  },
  async run(input) {
    const { values, terminal } = input;
    const recordKey = recordKeyIn(input);
    if (values.from === undefined) return listSteps(input, recordKey);
    const from = `${values.from}`;
    const as = required(values, "as");
    const decided = byWhom(values);
    return changing(
      input,
      `${operationOf(recordKey)}: run it again from step ${from}, under the key ${as}?`,
      async ({ store }) => {
        const seen = await store.find(recordKey, { consistent: true });
        const answer = await forkRecord({ store, clock: terminal.clock }, recordKey, {
          ...decided,
          from,
          as,
          evenThoughStarted: values["even-though-started"] === true,
        }).catch((error: unknown) => {
          throw aboutFork(error);
        });
        return changed(answer, { as, seen, absent: noRecord(input), operation: operationOf(recordKey) });
      },
      previewOf(recordKey, from),
    );
  },
};

/** What was given, in the words of the command. */
export function aboutFork(error: unknown): unknown {
  const { option, message } = Object(error) as { readonly option?: string; readonly message: string };
  if (!hasCode(error, "INVALID_OPTION")) return error;
  if (option === "store")
    return aboutStore(
      error,
      "this key's results are encrypted: use `onceonly fork` with --store and a module that exports the handler's `encrypted` store",
    );
  return new UsageError(option === "from" ? message.replace("`from`", "the step") : message);
}

async function listSteps({ values, terminal, positionals }: CommandCall, recordKey: string): Promise<1> {
  const table = await openTable(values);
  try {
    const record = await table.store.find(recordKey, { consistent: true });
    const steps = record ? forkableSteps(record) : [];
    if (values.json) terminal.print(JSON.stringify({ recordKey, steps }));
    else if (!record) terminal.print(noRecord({ values, positionals }));
    else {
      for (const line of await stateOf(recordKey)(table, terminal.clock.now())) terminal.print(line);
      terminal.print(
        steps.length > 0
          ? `pass --from with the first step that runs again: ${steps.join(", ")}`
          : "this record has no steps, so it can't be forked: use `rerun`",
      );
    }
    return 1;
  } finally {
    table.close();
  }
}

const previewOf = (recordKey: string, from: string) => async (table: OpenTable, now: number) => {
  const record = await table.store.find(recordKey, { consistent: true });
  const lines = await stateOf(recordKey)(table, now);
  if (!record) return lines;
  try {
    return [...lines, ...planLines(record, from)];
  } catch (error) {
    throw aboutFork(error);
  }
};

/** What is copied and what runs again. @throws InvalidOptionError */
function planLines(record: IdempotencyRecord, from: string): readonly string[] {
  const { copied, again, started } = planFork(record, from);
  return [
    `copied: ${copied.join(", ") || "nothing"}`,
    `runs again: ${again.join(", ")}, and everything after`,
    ...(started.length > 0 ? [`may have happened: ${started.join(", ")}`] : []),
    CONSEQUENCES.forked,
    record.state === "completed" || record.state === "failed"
      ? "callers of the original keep getting its answer"
      : "the original never runs again: its callers get an error from now on (HTTP 409)",
  ];
}

interface Forked {
  readonly as: string;
  readonly seen: IdempotencyRecord | undefined;
  readonly absent: string;
  readonly operation: string;
}

function changed(answer: ForkAnswer, { as, seen, absent, operation }: Forked): Changed {
  if (!answer.forked)
    return {
      done: false,
      message: `not forked: ${answer.state === "absent" ? absent : whyNotForked(answer)}`,
      json: answer,
    };
  const next = nextStep(operation, as, isHttpToken(seen?.token ?? ""));
  return {
    done: true,
    message: `forked: ${answer.recordKey}`,
    next: `next: ${next}`,
    json: { ...answer, next },
  };
}

/** How to run a fork, exactly. */
export const nextStep = (operation: string, as: string, isHttp: boolean): string =>
  isHttp
    ? `send the original request again, as the same caller and with the same body, with the header Idempotency-Key: "${as}"`
    : `run ${operation} again with the same input and the key ${as}: for a message, send the same body with this key in its envelope`;

const WHY_NOT: Readonly<Record<string, string>> = {
  "in-progress": "the key is in progress: wait for it to end, or use `release --interrupt` first",
  waiting: "it has unsent messages: send or drop them first, with `outbox`",
  taken: "the new key already has another record, or one of a fork from another step: choose another key",
  undone: "its saga has turned back, so the steps are undone: start a new operation",
};

export function whyNotForked({ state, to, steps = [] }: Exclude<ForkAnswer, { forked: true }>): string {
  if (state === "forked") return `it was forked already, so fork its fork instead: ${to}`;
  if (state === "started")
    return `${steps.join(", ")} may have happened, and the fork runs it under a new child key: check that first, then use \`onceonly fork\` with --even-though-started`;
  return WHY_NOT[state] ?? `the key is ${state}`;
}
