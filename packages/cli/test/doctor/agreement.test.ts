// The doctor and a synthesis read the same rules. Each app is synthesized, and its templates are given to the doctor.
import { mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { systemClock } from "../../../../lib/core/clock.ts";
import { MISCONFIGURATIONS } from "../../../../test/cdk/misconfigurations/cases/all.ts";
import { CORRECT } from "../../../../test/cdk/misconfigurations/correct.ts";
import { DOCTOR_DIFFERENCES } from "../../../../test/cdk/misconfigurations/doctor-differences.ts";
import { root } from "../../../../test/kit/project.ts";
import { COMMANDS, runCommand, type Terminal } from "../../lib/commands.ts";
import { templatesOf } from "./apps-given.ts";

interface Line {
  readonly kind: "fault" | "advice" | "note";
  readonly check: string;
  readonly what: string;
}

async function diagnose(
  files: readonly string[],
): Promise<{ readonly status: unknown; readonly lines: Line[] }> {
  const lines: string[] = [];
  const terminal: Terminal = {
    print: (line) => lines.push(line),
    confirm: async () => undefined,
    clock: systemClock,
    env: {},
  };
  const args = [...files.flatMap((file) => ["--template", file]), "--json"];
  const status = await runCommand(COMMANDS.doctor!, args, terminal).catch((error: Error) => error.message);
  return { status, lines: lines.map((line) => JSON.parse(line)) };
}

let folder: string;
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "onceonly-agreement-")));
});
afterAll(() => rm(folder, { recursive: true }));

const different = new Set(DOCTOR_DIFFERENCES.flatMap(({ wrong }) => wrong));

type Misconfiguration = (typeof MISCONFIGURATIONS)[number];

/** Whether the doctor reports what the synthesis does: the same text of a refusal, the same id of a warning or a note. */
function agrees({ verdict, by }: Misconfiguration, status: unknown, lines: readonly Line[]): boolean {
  const of = (kind: Line["kind"]) => lines.filter((line) => line.kind === kind);
  const isOf = ({ check }: Line) => `onceonly:${check}` === by;
  if (verdict === "accepted") return status === 0 && of("fault").length === 0;
  if (verdict === "noted") return of("note").some(isOf) && of("fault").length === 0;
  return (
    status === 1 && of("fault").some((line) => (verdict === "warned" ? isOf(line) : line.what.includes(by)))
  );
}

describe("B5: the doctor, over the templates of an app", () => {
  const counts = { none: 0, agree: 0, differ: 0 };

  it.each(MISCONFIGURATIONS)(
    "$number: agrees with the synthesis about $wrong, or its difference is listed",
    async (each) => {
      const files = templatesOf(each.make);
      if (files === undefined) {
        counts.none += 1;
        expect(each.verdict, "an app without templates is refused").toMatch(/^refused/);
        return;
      }
      const { status, lines } = await diagnose(files);
      const isAgreed = agrees(each, status, lines);
      counts[isAgreed ? "agree" : "differ"] += 1;

      expect({
        isAgreed,
        said: isAgreed ? [] : [status, ...lines.filter(({ kind }) => kind !== "advice")],
      }).toMatchObject({
        isAgreed: !different.has(each.wrong),
      });
    },
  );

  it("lists no difference that isn't one, and each with the row that it is about", () => {
    const wrong = MISCONFIGURATIONS.map((each) => each.wrong);
    expect([...different].filter((each) => !wrong.includes(each))).toEqual([]);
    // All rows have run, unless only some were asked for.
    if (counts.none + counts.agree + counts.differ < MISCONFIGURATIONS.length) return;
    expect(counts.agree).toBeGreaterThanOrEqual(269);
  });

  it.each(CORRECT)("finds nothing wrong in %s", async (_, make) => {
    const { status, lines } = await diagnose(templatesOf(make) ?? []);

    expect(lines.filter(({ kind }) => kind !== "advice")).toEqual([]);
    expect(status).toBe(0);
  });

  it("reads a template in YAML as it reads it in JSON", async () => {
    let count = 0;
    for (const { make, number } of MISCONFIGURATIONS) {
      const files = templatesOf(make);
      if (files?.length !== 1 || !files[0]) continue;
      const text = await readFile(files[0], "utf8");
      const [json, yaml] = [join(folder, `${number}.template.json`), join(folder, `${number}.template.yaml`)];
      await Promise.all([
        writeFile(json, text),
        writeFile(yaml, stringify(JSON.parse(text), { aliasDuplicateObjects: false })),
      ]);

      const [one, other] = [await diagnose([json]), await diagnose([yaml])];

      expect(JSON.stringify(other).replaceAll(basename(yaml), basename(json)), number).toBe(
        JSON.stringify(one),
      );
      count += 1;
    }
    expect(count).toBeGreaterThan(150);
  });

  it.each(["docs/guides/without-cdk/sam.yaml", "docs/guides/without-cdk/cloudformation.yaml"])(
    "finds nothing wrong in %s",
    async (file) => {
      const { status, lines } = await diagnose([join(root, file)]);

      expect(lines.filter(({ kind }) => kind === "fault")).toEqual([]);
      expect(status).toBe(0);
    },
  );
});
