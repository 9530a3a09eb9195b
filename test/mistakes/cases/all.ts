// Every mistake that a user was seen to make, by the part of the package that reports it.
import type { Mistake } from "../given.ts";
import { BATCH_MISTAKES } from "./batches.ts";
import { EXPLORER_MISTAKES } from "./explorer.ts";
import { LEASE_MISTAKES } from "./leases.ts";
import { MESSAGE_MISTAKES } from "./messages.ts";
import { OPTION_MISTAKES } from "./options.ts";
import { OUTCOME_MISTAKES } from "./outcomes.ts";
import { POSTGRES_MISTAKES } from "./postgres.ts";
import { PROJECT_MISTAKES } from "./projects.ts";
import { RECIPE_MISTAKES } from "./recipes.ts";
import { RECONCILER_MISTAKES } from "./reconciler.ts";
import { RELAY_MISTAKES } from "./relay.ts";
import { SAGA_MISTAKES } from "./sagas.ts";
import { SET_UP_MISTAKES } from "./set-ups.ts";
import { SOCKET_MISTAKES } from "./sockets.ts";
import { STACK_MISTAKES } from "./stacks.ts";
import { STEP_MISTAKES } from "./steps.ts";
import { STORE_MISTAKES } from "./store.ts";
import { TYPE_MISTAKES } from "./types.ts";
import { VALKEY_MISTAKES } from "./valkey.ts";
import { VALUE_MISTAKES } from "./values.ts";
import { WINDOW_MISTAKES } from "./windows.ts";
import { WIRING_MISTAKES } from "./wiring.ts";

export const MISTAKES: Readonly<Record<string, readonly Mistake[]>> = {
  "Options and keys": OPTION_MISTAKES,
  "Environment and wiring": WIRING_MISTAKES,
  "Set-ups that look right": SET_UP_MISTAKES,
  "Types and shapes": TYPE_MISTAKES,
  "TypeScript projects": PROJECT_MISTAKES,
  "Store and commit": STORE_MISTAKES,
  PostgreSQL: POSTGRES_MISTAKES,
  "Valkey and Redis": VALKEY_MISTAKES,
  "Keys, results and times": VALUE_MISTAKES,
  Leases: LEASE_MISTAKES,
  Batches: BATCH_MISTAKES,
  Messages: MESSAGE_MISTAKES,
  "Relay and sweeper": RELAY_MISTAKES,
  Stacks: STACK_MISTAKES,
  "Event sources and retention": WINDOW_MISTAKES,
  "Unknown outcomes": OUTCOME_MISTAKES,
  "The reconciler": RECONCILER_MISTAKES,
  Steps: STEP_MISTAKES,
  Sagas: SAGA_MISTAKES,
  "Webhooks and single events": RECIPE_MISTAKES,
  "Tests with the explorer": EXPLORER_MISTAKES,
  "Clients in a simulation": SOCKET_MISTAKES,
};

const HEAD = `# Common mistakes, and the message for each

Look up a message to see which mistake causes it, or read through the tables to see what onceonly notices.

<!-- made of test/mistakes, where each mistake is made: npx vitest run test/mistakes -u -->

Every mistake in these tables produces a message. The text shown may be only a part of it. "Type" means that the compiler rejects
the code. What onceonly can't notice is [at the end](#what-onceonly-cant-notice).
`;

/** Mistakes that no message reports where they're made: why not, and what shows them instead. */
export const UNNOTICED: readonly (readonly [made: string, why: string, shownBy: string])[] = [
  [
    "passes `childKey` a random name",
    "an id that the handler has just loaded looks the same",
    "`explore` reports two calls of the other system",
  ],
  [
    "runs one operation in two functions",
    "each process sees only itself",
    "`UseIdempotency` warns when both are in one CDK app (`onceonly:shared-operation`); records with different results under one key",
  ],
  [
    "commits messages that no relay sends",
    "the handler's process doesn't see the relay",
    "synthesis (`onceonly:no-relay`), `onceonly doctor`, the alarm `outbox-lag`; the report of `explore`",
  ],
  [
    "builds a key from a time that a database returned",
    "the value is stable within one call",
    "`explore` with a redelivery, and the metric of `watchNewKeys`",
  ],
  [
    "trusts a header that a proxy sets, but is reachable without the proxy",
    "the request looks the same",
    "a request to the function's own address",
  ],
];

/** docs/reference/mistakes.md. */
export function mistakesPage(): string {
  const tables = Object.entries(MISTAKES).map(([title, mistakes]) =>
    [`## ${title}`, "", "| a user | where | message |", "| --- | --- | --- |", ...mistakes.map(row), ""].join(
      "\n",
    ),
  );
  const unnoticed = [
    "## What onceonly can't notice",
    "",
    "| a user | why | what shows it |",
    "| --- | --- | --- |",
    ...UNNOTICED.map((cells) => `| ${cells.map(cell).join(" | ")} |`),
    "",
  ].join("\n");
  return [HEAD, ...tables, unnoticed].join("\n");
}

const row = ({ made, reportedBy, text }: Mistake) => `| ${cell(made)} | ${reportedBy} | ${cell(text)} |`;

const cell = (text: string) =>
  text
    .replaceAll("|", "\\|")
    .replaceAll("<", "&lt;")
    .replaceAll(/\s*\n\s*/g, " ");
