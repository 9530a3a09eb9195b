// Guides run: a page's handler and its `try.ts`, which calls explore(…) or makes a Simulator, print what the page shows.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { format } from "node:util";
import { afterAll, afterEach, expect, it, vi } from "vitest";
import { fencesOf } from "../kit/fences.ts";
import { root } from "../kit/project.ts";

const folder = mkdtempSync(join(root, "test/docs/guides-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

interface Guide {
  readonly page: string;
  /** The names of the page's first TypeScript fences as files; an empty name leaves a fence out. */
  readonly files: readonly string[];
  /** The page whose `try.ts` runs, and what this page asks the reader to change in it. */
  readonly trial?: { readonly page: string; readonly body: string; readonly table: string };
  /** Which of the page's outputs. @default 0 */
  readonly output?: number;
}

const payment = "payment-providers";
const guides: readonly Guide[] = [
  { page: "queues-and-streams", files: ["handler.ts"] },
  { page: "outbox", files: ["handler.ts", "senders.ts"] },
  { page: payment, files: ["handler.ts"] },
  { page: "servers", files: ["server.ts"] },
  {
    page: "steps-and-sagas",
    files: ["handler.ts"],
    trial: { page: payment, body: '{"sku":"tea"}', table: "reservations" },
  },
  {
    page: "steps-and-sagas",
    files: ["", "", "handler.ts"],
    trial: { page: payment, body: '{"id":"order-7","cents":500}', table: "orders" },
    output: 1,
  },
];

const codeOf = (page: string, language: string) =>
  fencesOf(`docs/guides/${page}.md`, language).map(({ code }) => code);

function trialOf({ page, trial }: Guide): string {
  const [code = ""] = codeOf(trial?.page ?? page, "js");
  if (!trial) return code;
  const { body, table } = trial;
  return code
    .replace(/body: '.*'/, `body: '${body}'`)
    .replace("idempotencyTable:", `tables: { ${table}: { partitionKey: "id" } }, $&`);
}

it.each(guides.map((guide, at) => [guide.page, at, guide] as const))(
  "docs/guides/%s.md prints what its code prints (%i)",
  async (page, at, guide) => {
    const shown = (codeOf(page, "text")[guide.output ?? 0] ?? "").trim().split("\n");
    const commands = shown.filter((line) => line.startsWith("$ ")).join(" ");
    for (const [, name = "", value = ""] of commands.matchAll(/(\w+)=(\S+)/g)) vi.stubEnv(name, value);
    vi.stubEnv("IDEMPOTENCY_TABLE", "idempotency");
    const name = (file: string) => join(folder, `${at}-${file}`);
    const write = (file: string, code: string) =>
      writeFileSync(name(file), code.replaceAll(/from "\.\/(\w+\.ts)"/g, `from "./${at}-$1"`));
    const fences = codeOf(page, "ts");
    for (const [index, file] of guide.files.entries()) if (file) write(file, fences[index] ?? "");
    write("try.ts", trialOf(guide));
    const printed: string[] = [];
    vi.spyOn(console, "log").mockImplementation((...values) => {
      printed.push(format(...values));
    });

    await import(name("try.ts"));

    const expected = shown.filter((line) => !line.startsWith("$ "));
    const actual = printed.join("\n").trimEnd().split("\n");
    expect(actual).toHaveLength(expected.length);
    for (const [index, line] of expected.entries()) {
      // What a page leaves out is an ellipsis there.
      for (const part of line.split("…")) expect(actual[index]).toContain(part);
    }
  },
  60_000,
);
