// docs/proof/league.md as a whole: what each library did, and where others are better than we are.
import type { Finding } from "../../../cli/lib/conform/checks.ts";
import type { Contestant } from "./contestant.ts";
import { HAZARDS, type Outcome, type Outcomes, RETENTION_SECONDS } from "./hazards.ts";
import type { Trials } from "./trials.ts";

export type ConformFinding = Finding & { readonly check: string };

export interface Row {
  readonly contestant: Contestant;
  readonly findings: readonly ConformFinding[];
  readonly trials: Trials;
  readonly hazards: Partial<Outcomes>;
  /** `undefined` for a worker. */
  readonly kilobytes: number | undefined;
}

/** What others have and we don't. The sources were read on the day that stands here. */
const ADVANTAGES = [
  ["published on npm", "all of them", "not yet", "npm, 2026-11-28"],
  [
    "the same library in other languages",
    "Powertools: Python, Java, .NET",
    "TypeScript only",
    "[Powertools](https://docs.aws.amazon.com/powertools/), 2026-11-28",
  ],
  ["MongoDB as a store", "express-idempotency, by an adapter on npm", "none", "npm, 2026-11-28"],
  [
    "Nest 9 and 10 in its peer dependencies",
    "@node-idempotency/nestjs",
    "tested with Nest 11 only",
    "its manifest",
  ],
  [
    "a claim of a killed function ends after the 30 s that the function had",
    "Powertools: after 30 s",
    "5 s later",
    "measured above",
  ],
  [
    "a result of 1 MB on Valkey",
    "all others store it",
    "the effect happens, and the caller gets 500: a server's `maxResponseBytes` is 1,000,000 by default",
    "measured above",
  ],
  [
    "a process dies, and another one finishes the work without a caller's retry",
    "BullMQ, @platformatic/job-queue, DBOS, OpenWorkflow, pg-workflows",
    "needs a retry of the caller or of its queue",
    "measured above",
  ],
] as const;

/** Causes that we know, for findings that a reader may doubt. Checked in the code of the versions on the page. */
const CAUSES = `- Powertools' Middy middleware deletes a record that another invocation owns, when it refuses a request. This is
  [issue 5675](https://github.com/aws-powertools/powertools-lambda-typescript/issues/5675): fixed in its repository, not released on
  the day of this page. The wrapper doesn't have it.
- Powertools' Valkey store drops the payload's hash when the handler has finished, so with payload validation it refuses every replay. This
  is [issue 5705](https://github.com/aws-powertools/powertools-lambda-typescript/issues/5705), also fixed and not released. Without payload
  validation it replays, as the row below it shows, but then no library can notice another body.
- express-idempotency looks for a key and then stores it, in two steps. In memory nothing comes between the two; on Valkey other requests do.
- express-idempotency and the Nest interceptor have no option for the caller. With the core of @node-idempotency, our adapter puts the
  caller into the prefix of each key.
- A claim of @node-idempotency has no lease: it ends with its record, which lives for 24 hours unless you set it, as we did to ${RETENTION_SECONDS} seconds.
- pg-workflows has one space of keys for all workflows, so our adapter would have to put the workflow into the key too.
- The queues and workflow engines look at the id only. Comparing the body is left to you, and none of them claims otherwise.
`;

export function leaguePage(
  rows: readonly Row[],
  versions: Readonly<Record<string, string>>,
  day: string,
): string {
  const versionList = Object.entries(versions).map((entry) => entry.join(" "));
  const least = Math.min(...rows.map(({ kilobytes = Number.NaN }) => kilobytes).filter(Number.isFinite));
  const libraries = new Set(rows.map(({ contestant: { library } }) => library)).size - 1;
  return `# Libraries compared

What [\`onceonly conform\`](conform.md) and seven faults found in ${libraries} other libraries for Node.js, and in ours.

\`npm run league\` wrote this page on ${day}; don't edit it. You need Node.js, PostgreSQL, and Valkey or Redis to run it yourself.
\`npm run league -- --check\` lists the libraries that have a newer version since.

Each library is set up as its documentation shows, on its own store, in its own process. The same handler is behind \`POST /orders\` and
\`POST /refunds\` and needs 20 ms. We wrote the checks, so they look for what we care about.

- \`broken\`: an effect happened twice, or a caller got the response to another request.
- \`differs\`: the status isn't the one of the convention that the library says it follows.
- Profile \`none\`: the library knows no HTTP. Our adapter reads the key and sets the statuses, so the checks of the header are left out,
  and it puts the caller into the key.

${table(
  ["library", "as", "store", "profile", "held", "differs", "broken"],
  rows.map(({ contestant, findings }) => [
    ...identify(contestant),
    contestant.profile,
    ...["held", "differs", "broken"].map((verdict) => namesOf(findings, verdict)),
  ]),
)}

## When the store or the process fails

Between each library and its store is a proxy, which can lose one answer or go away. A caller sends a request, and sends it again when it
has its answer. Bold is what hurts a caller who did nothing but retry: a second effect, a handler that ran unprotected, or another
operation's response.

${table(
  ["library", "as", "store", ...Object.values(HAZARDS)],
  rows.map(({ contestant, hazards }) => [
    ...identify(contestant),
    ...Object.keys(HAZARDS).map((hazard) => outcomeCell(hazards[hazard as keyof Outcomes])),
  ]),
)}

- Killed: the effect has happened, its process gets a SIGKILL and starts again, and the caller retries twice a second. No library can
  know whether the effect happened, so all that run again have two. What counts is how long callers wait, and that it isn't forever.
- Seconds count from the kill. They include the restart, which took up to 17 seconds because all processes started at the same time.
- The large result is random text, which doesn't compress.
- The records of two columns, killed and expired, live for ${RETENTION_SECONDS} seconds where a library has a setting for it.
- –: the library has no such store, or the fault didn't reach a request of this kind.

## The same handler, looked at from inside

${table(
  [
    ...["library", "as", "store", "a retry after the handler threw", "`Location` replayed"],
    ...["`Set-Cookie` replayed", "Valkey commands: first run, replay", "code, minified"],
  ],
  rows.map(({ contestant, trials, kilobytes }) => [
    ...[...identify(contestant), trials.afterFailure],
    yesOrNo(trials.replaysLocation),
    yesOrNo(trials.replaysCookie),
    trials.commands ? trials.commands.join(", ") : "–",
    kilobytes === undefined ? "–" : kilobytes === least ? `**${kilobytes} KB**` : `${kilobytes} KB`,
  ]),
)}

Commands inside a script count too. The code is what a bundler adds to your function or server for the library, its adapter and
store, without frameworks and database clients.

## Where others are better

${table(["", "who", "onceonly", "source"], [...betterRows(rows), ...ADVANTAGES.map((row) => [...row])])}

## Causes

${CAUSES}
## What wasn't right, library by library

${rows.map(section).filter(Boolean).join("\n\n")}

## What isn't here

- Libraries that the registry this page was made with doesn't have, such as hono-idempotency and @node-idempotency/express. A 404 says
  nothing about them.
- Services that are more than a library and its store, such as Restate and Temporal. Restate's server comes as a package of 220 MB.
- Libraries in other languages, which \`conform\` can check just as well.

## Versions

${versionList.join(", ")}.
`;
}

const identify = ({ library, adapter, store }: Contestant) => [library, adapter, store];

const outcomeCell = (outcome: Outcome | undefined) =>
  outcome === undefined ? "–" : outcome.isHarm ? `**${outcome.says}**` : outcome.says;

const yesOrNo = (is: boolean | undefined) => (is === undefined ? "–" : is ? "yes" : "no");

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  return [header, header.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function namesOf(findings: readonly ConformFinding[], verdict: string): string {
  const names = findings.filter((each) => each.verdict === verdict).map(({ check }) => check);
  return verdict === "held" || names.length === 0
    ? `${names.length}`
    : `${names.length}: ${names.join(", ")}`;
}

const sumOf = ({ trials }: Row) => (trials.commands ? trials.commands[0] + trials.commands[1] : Number.NaN);

/** What was measured, if another library is ahead. */
function betterRows(rows: readonly Row[]): readonly (readonly string[])[] {
  const ours = (row: Row) => row.contestant.library === "onceonly";
  const [us, others] = [rows.filter(ours), rows.filter((row) => !ours(row))];
  const better: string[][] = [];
  const smallest = Math.min(...us.map(({ kilobytes = Number.NaN }) => kilobytes));
  const smaller = others.filter(({ kilobytes = Number.NaN }) => kilobytes < smallest);
  if (smaller.length > 0)
    better.push([
      "less code",
      listed(smaller, ({ kilobytes }) => `${kilobytes} KB`),
      `${smallest} KB`,
      "measured above",
    ]);
  const commands = us.map(sumOf).find((sum) => !Number.isNaN(sum)) ?? 0;
  const fewer = others.filter((row) => sumOf(row) < commands);
  if (fewer.length > 0)
    better.push([
      "fewer Valkey commands for a run and its replay",
      listed(fewer, (row) => `${sumOf(row)}`),
      `${commands}`,
      "measured above",
    ]);
  return better;
}

const listed = (rows: readonly Row[], say: (row: Row) => string) =>
  rows.map((row) => `${nameOf(row)}: ${say(row)}`).join("; ");

const nameOf = ({ contestant: { library, adapter, store } }: Row) => `${library} (${adapter}, ${store})`;

function section(row: Row): string {
  const wrong = row.findings.filter(({ verdict }) => /differs|broken/.test(verdict));
  if (wrong.length === 0) return "";
  const lines = wrong.map(({ check, verdict, says }) => `- ${verdict}, ${check}: ${says}`);
  return `### ${nameOf(row)}\n\n${lines.join("\n")}`;
}
