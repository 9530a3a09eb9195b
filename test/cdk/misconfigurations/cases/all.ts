// Every misconfiguration, by the part of an app that it is in.
import { DOCTOR_DIFFERENCES } from "../doctor-differences.ts";
import type { Misconfiguration, Verdict } from "../given.ts";
import { CALLERS, NETWORKS, PIPES, WAITING } from "./callers.ts";
import { DURABLE } from "./durable.ts";
import { ESCAPES } from "./escapes.ts";
import { EVENTS } from "./events.ts";
import { FIFO_QUEUES } from "./fifo.ts";
import { FUNCTIONS, LOGS, OWN_TABLES } from "./functions.ts";
import { GATEWAYS } from "./gateways.ts";
import { HEADERS } from "./headers.ts";
import { INPUTS } from "./inputs.ts";
import { KEYS } from "./keys.ts";
import { MONITORING } from "./monitoring.ts";
import { OUTBOXES, RECONCILERS } from "./outbox.ts";
import { POLLED } from "./polled.ts";
import { PUSHED } from "./pushed.ts";
import { DEDUP_QUEUES, DELIVERIES } from "./queues.ts";
import { ENDPOINTS, RELAY_PARTS, WATCHED } from "./relay-parts.ts";
import { RETENTIONS } from "./retentions.ts";
import { RIGHTS } from "./rights.ts";
import { IMPORTED_TABLES, TABLES } from "./tables.ts";

interface Subject {
  readonly title: string;
  /** Begins the numbers of its rows. */
  readonly letter: string;
  readonly cases: readonly Misconfiguration[];
}

const SUBJECTS: readonly Subject[] = [
  { title: "`IdempotencyTable`", letter: "T", cases: TABLES },
  { title: "Imported tables", letter: "I", cases: IMPORTED_TABLES },
  {
    title: "`UseIdempotency` and its functions",
    letter: "F",
    cases: [...FUNCTIONS, ...NETWORKS, ...OWN_TABLES, ...LOGS, ...ENDPOINTS],
  },
  { title: "Rights", letter: "R", cases: [...RIGHTS, ...KEYS] },
  { title: "Retention and queues", letter: "W", cases: RETENTIONS },
  { title: "Retention and other sources", letter: "S", cases: [...PUSHED, ...POLLED, ...CALLERS] },
  { title: "`DedupQueue`", letter: "Q", cases: [...DEDUP_QUEUES, ...FIFO_QUEUES] },
  { title: "`UseStartOnce` and durable functions", letter: "U", cases: DURABLE },
  { title: "Deliveries to a function", letter: "D", cases: [...DELIVERIES, ...PIPES, ...EVENTS, ...INPUTS] },
  { title: "Callers that wait for a function", letter: "G", cases: [...GATEWAYS, ...WAITING] },
  { title: "What removes the key, or answers instead of a function", letter: "K", cases: HEADERS },
  { title: "`OutboxRelay`", letter: "O", cases: [...OUTBOXES, ...RELAY_PARTS] },
  { title: "`Reconciler`", letter: "C", cases: RECONCILERS },
  { title: "`IdempotencyMonitoring`", letter: "M", cases: [...MONITORING, ...WATCHED] },
  { title: "What a construct can't see, but its template shows", letter: "E", cases: ESCAPES },
];

export const MISCONFIGURATIONS = SUBJECTS.flatMap(({ letter, cases }) =>
  cases.map((each, index) => ({ ...each, number: `${letter}${index + 1}` })),
);

const count = (verdict: Verdict) => MISCONFIGURATIONS.filter((each) => each.verdict === verdict).length;

const head = () => `# Misconfigurations, and what synthesis reports

Mistakes in a stack that \`cdk synth\` notices, and the message for each.

<!-- made of test/cdk/misconfigurations, where each is synthesized: npx vitest run test/cdk/misconfigurations -u -->

${MISCONFIGURATIONS.length} misconfigurations were tried. ${count("refused")} are refused by onceonly and ${count("refused by CDK")} by CDK, ${count("warned")} get a warning, ${count("noted")} a note,
and ${count("accepted")} are accepted on purpose. Each row's number is in the title of its test.

- Refused: synthesis fails. The table shows a part of the message; the full message includes the numbers.
- Warned: synthesis goes on. If it's intended, call \`Annotations.of(construct).acknowledgeWarning(id)\`.
- Noted: something is only known at deployment, or not at all, so it isn't checked.

[constructs.md](constructs.md#what-is-proved-at-synthesis) explains the rules behind these checks.
`;

const cell = (text: string) => text.replaceAll("|", "\\|");

function doctorTable(): string {
  const numbersOf = (wrong: readonly string[]) =>
    MISCONFIGURATIONS.filter((each) => wrong.includes(each.wrong)).map(({ number }) => number);
  const rows = DOCTOR_DIFFERENCES.map(
    ({ reason, wrong }) => `| ${numbersOf(wrong).join(", ")} | ${cell(reason)} |`,
  );
  return `## What \`onceonly doctor --template\` can't tell

The doctor reads the templates by the same rules, and a test compares the two for every row that has a template. They differ only in
these rows. If the constructs refuse an app, there's no template to compare.

| rows | why the doctor differs |
|---|---|
${rows.join("\n")}
`;
}

/** docs/reference/misconfigurations.md. */
export function misconfigurationsPage(): string {
  const tables = SUBJECTS.map(({ title, letter, cases }) =>
    [
      `## ${title}`,
      "",
      "| | what is wrong | result | text, id or reason |",
      "|---|---|---|---|",
      ...cases.map(({ wrong, verdict, by }, index) => {
        const text = by.startsWith("onceonly:") ? `\`${by}\`` : by;
        return `| ${letter}${index + 1} | ${cell(wrong)} | ${verdict} | ${cell(text)} |`;
      }),
      "",
    ].join("\n"),
  );
  return `${[head(), ...tables, doctorTable()].join("\n").trimEnd()}\n`;
}
