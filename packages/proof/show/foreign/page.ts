// docs/proof/foreign-handlers.md: what the explorer says about handlers of others.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { PROJECT_URL } from "../../../../lib/contract.ts";
import type { Finding } from "../../../explorer/lib/explorer/finding.ts";
import { findingLine } from "../../../explorer/lib/explorer/report-text.ts";
import { groupBy } from "../demo/group-by.ts";
import { type Explored, exploreForeign, refusalOf } from "./explore-foreign.ts";
import type { RefusedHandler } from "./foreign-handler.ts";
import { GROUPS, HANDLERS } from "./handlers.ts";
import { REFUSED_HANDLERS } from "./refused-handlers.ts";

export const PAGE = new URL("../../../../docs/proof/foreign-handlers.md", import.meta.url);
const SOURCES = `${PROJECT_URL}/blob/main/packages/proof/show/foreign/handlers`;

/** Explores all handlers; `wrong` has the reports that aren't right. */
export async function foreignPage(note: (name: string) => void = () => {}) {
  const wrong: string[] = [];
  const explored = new Map<string, Explored>();
  for (const handler of HANDLERS) {
    note(handler.file);
    const each = await exploreForeign(handler);
    explored.set(handler.file, each);
    wrong.push(...each.wrong);
  }
  for (const handler of REFUSED_HANDLERS) {
    note(handler.file);
    const refusal = await refusalOf(handler);
    if (!refusal?.includes(handler.refusal))
      wrong.push(`refused/${handler.file}: ${refusal ?? "it isn't refused"}`);
  }
  return { page: pageOf(explored), wrong };
}

function pageOf(explored: ReadonlyMap<string, Explored>): string {
  const all = [...explored.values()];
  const defective = all.filter(({ report }) => !report.ok);
  const sections = GROUPS.map(([title, handlers]) =>
    [
      `## ${title}`,
      ...handlers.flatMap(({ file }) => {
        const each = explored.get(file);
        return each ? [section(each)] : [];
      }),
    ].join("\n\n"),
  );
  return `# Other people's handlers

The explorer doesn't need onceonly in your handler. Here it runs ${all.length} handlers that we wrote the way public samples are written, with the
AWS SDK, Powertools, Middy, Express, Stripe's SDK and durable functions. It finds defects in ${defective.length} of them.

For each handler we wrote down the right verdict before it was explored. Where a report said something else, we looked for the reason:
three times the explorer was wrong and has been fixed, and once we were ([config-at-load](#config-at-load)). \`npm run foreign\`
explores all handlers again, fails if a report isn't right, and writes this page.

To try it with yours, pass the handler, an event and the tables that it uses:

\`\`\`ts
import { explore } from "onceonly-explorer";

// Instead of this line, import your handler.
declare const handler: (event: object) => Promise<object>;

const event = {
  requestContext: { http: { method: "POST", path: "/todos" } },
  headers: {},
  body: JSON.stringify({ title: "buy tea" }),
};

const report = await explore(handler, event, { tables: { todos: { partitionKey: "id" } }, expectedStatus: 201 });
console.log(String(report));
\`\`\`

[Test your handlers](../guides/testing.md#explore-a-handler) explains the report and the options.

| handler | in the shape of | requests | runs | verdict |
|---|---|---|---|---|
${all.map(row).join("\n")}

${sections.join("\n\n")}

## What couldn't be run

The explorer stops if it can't see all requests of a handler, because a report about the others could be wrong.

| handler | in the shape of | it stops at | why | instead |
|---|---|---|---|---|
${REFUSED_HANDLERS.map(refusedRow).join("\n")}

Samples for AWS's old SDK (\`aws-sdk\`, version 2) aren't here. Neither are defects that take two different events, because one
exploration has one event, nor those that take a batch of which DynamoDB or SQS accepts a part.

${sourcesLine()}
`;
}

function row({ handler: { file, shape }, report }: Explored): string {
  const requests = `${report.points.length}`;
  return `| ${linkTo(file)} | ${shape} | ${requests} | ${report.runs} | ${verdictOf(report)} |`;
}

function verdictOf({ findings, accepted }: Explored["report"]): string {
  if (findings.length > 0) return [...new Set(findings.map(({ kind }) => WORDS[kind]))].join(", ");
  return accepted.length > 0 ? "exactly once, except for what was accepted" : "exactly once";
}

const WORDS: Readonly<Record<Finding["kind"], string>> = {
  "happens-twice": "an effect happens twice",
  lost: "an effect is lost",
  differs: "an effect has the wrong content",
  "answer-differs": "a repetition gets another response",
  dangling: "a reference leads nowhere",
  stuck: "a retry never succeeds",
  order: "the order is broken",
  misreported: "the batch response can't be read",
  unbounded: "endless requests",
  unawaited: "work isn't awaited",
  "key-reused": "a key is used for two requests",
};

/** A heading without a dot has the same anchor on GitHub and on the site. */
const titleOf = (file: string) => file.replace(/\.\w+$/, "");
const linkTo = (file: string) => `[${titleOf(file)}](#${titleOf(file)})`;

function section({ handler, report, fixed }: Explored): string {
  const { file, does, why, right, fix } = handler;
  const first = right.flatMap((kind) => shortest(report.findings.filter((each) => each.kind === kind)) ?? []);
  const schedules = [...groupBy(first, ({ trace }) => trace)].map(scheduleOf);
  const fixedLine = fixed && `Fixed: ${fix}. [${fixed.runs} runs, exactly once](${SOURCES}/fixed/${file}).`;
  const head = `### ${titleOf(file)}\n\n[${file}](${SOURCES}/${file}): ${does} ${why}`;
  return [head, ...schedules, ...(fixedLine ? [fixedLine] : [])].join("\n\n");
}

/** The finding with the shortest run. */
function shortest(findings: readonly Finding[]): Finding | undefined {
  const lengthOf = ({ trace }: Finding) => trace.split("\n").length;
  return findings.toSorted((left, right) => lengthOf(left) - lengthOf(right))[0];
}

function scheduleOf([trace, findings]: readonly [string, readonly Finding[]]): string {
  return ["```", ...findings.map(findingLine), trace, "```"].join("\n");
}

function refusedRow({ file, shape, refusal, why, instead }: RefusedHandler): string {
  return `| [${file}](${SOURCES}/refused/${file}) | ${shape} | ${refusal} | ${why} | ${instead} |`;
}

/** A short test compares it, so that the page can't be older than the handlers. */
export function sourcesLine(): string {
  const folder = new URL("./", import.meta.url);
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => /\.(ts|mjs|cjs)$/.test(file))
    .sort();
  const hash = createHash("sha256");
  for (const file of files) hash.update(file).update(readFileSync(new URL(file, folder)));
  return `<!-- from sources ${hash.digest("hex").slice(0, 16)} -->`;
}
