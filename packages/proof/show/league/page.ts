// docs/proof/league.md as a whole: what each library did, and where others are better than we are.
import type { Finding } from "../../../cli/lib/conform/checks.ts";
import type { Contestant } from "./contestant.ts";
import type { Trials } from "./trials.ts";

export type ConformFinding = Finding & { readonly check: string };

export interface Row {
  readonly contestant: Contestant;
  readonly findings: readonly ConformFinding[];
  readonly trials: Trials;
  readonly kilobytes: number;
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
] as const;

export function leaguePage(
  rows: readonly Row[],
  versions: Readonly<Record<string, string>>,
  day: string,
): string {
  const versionList = Object.entries(versions).map((entry) => entry.join(" "));
  const least = Math.min(...rows.map(({ kilobytes }) => kilobytes));
  return `# Libraries compared

What [\`onceonly conform\`](conform.md) found in other libraries for Node.js, and in ours.

Written by \`npm run league\` on ${day}; do not edit. Versions: ${versionList.join(", ")}. \`npm run league -- --check\` says which
of them are out of date.

Every library runs the same handler behind \`POST /orders\` on this machine, set up as its documentation shows, on its own store. The
handler needs 20 ms. Powertools knows no HTTP, so our adapter gives its errors the statuses of the IETF draft and puts the caller into the
key. We wrote the checks, so they look for what we care about. \`broken\` means that an effect happened twice or a caller got somebody
else's response. \`differs\` means another status than the convention that the library itself follows.

${table(
  ["library", "as", "store", "profile", "held", "differs", "broken"],
  rows.map(({ contestant: { library, adapter, store, profile }, findings }) => [
    ...[library, adapter, store, profile],
    ...["held", "differs", "broken"].map((verdict) => namesOf(findings, verdict)),
  ]),
)}

The same handler, looked at from inside:

${table(
  [
    "library",
    "as",
    "store",
    "a retry after the handler threw",
    "`Location` replayed",
    "`Set-Cookie` replayed",
    "Valkey commands: first run, replay",
    "code, minified",
  ],
  rows.map(({ contestant: { library, adapter, store }, trials, kilobytes }) => [
    ...[library, adapter, store, trials.afterFailure],
    yesOrNo(trials.replaysLocation),
    yesOrNo(trials.replaysCookie),
    trials.commands ? trials.commands.join(", ") : "–",
    kilobytes === least ? `**${kilobytes} KB**` : `${kilobytes} KB`,
  ]),
)}

Commands inside a script count too. The code is what a bundler adds to your function or server for the library, its adapter and
store, without frameworks and database clients.

## Where others are better

${table(["", "who", "onceonly", "source"], [...betterRows(rows), ...ADVANTAGES.map((row) => [...row])])}

## What wasn't right, library by library

${rows.map(section).filter(Boolean).join("\n\n")}

Two of them have one cause. With a caller as part of its key, Powertools doesn't notice that the other part is missing. And its
Valkey store (\`CachePersistenceLayer\`) drops the payload's hash when the handler has finished, so with payload validation every replay
is refused.

## What isn't here

Libraries that the registry this page was made with doesn't have, such as hono-idempotency and @node-idempotency/express; libraries in
other languages, which \`conform\` can check just as well; processes that die in the middle, which the
[comparison](comparison.md) with Powertools covers.
`;
}

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

/** What was measured, if somebody else is ahead. */
function betterRows(rows: readonly Row[]): readonly (readonly string[])[] {
  const ours = (row: Row) => row.contestant.library === "onceonly";
  const [us, others] = [rows.filter(ours), rows.filter((row) => !ours(row))];
  const better: string[][] = [];
  const smallest = Math.min(...us.map(({ kilobytes }) => kilobytes));
  const smaller = others.filter(({ kilobytes }) => kilobytes < smallest);
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
