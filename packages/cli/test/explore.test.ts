import "../../../test/kit/shop/environment.ts";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { explore } from "onceonly-explorer";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { postOrder } from "../../../test/kit/shop/events.ts";
import type { LambdaHandler } from "../../explorer/lib/simulator/simulated-function.ts";
import { shop } from "../../explorer/test/explorer/seeded-bugs/control.ts";
import { handler, mended } from "../../explorer/test/explorer/seeded-bugs/write-outside-commit.ts";
import { UsageError } from "../lib/commands.ts";
import { runAlone } from "./world.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "onceonly-explore-"));
});
afterAll(() => rm(folder, { recursive: true }));

const run = (args: readonly string[]) => runAlone("explore", args);

/** A module that exports what was found about a handler, from another copy of the package. */
async function moduleOf(explored: LambdaHandler): Promise<[path: string, text: string]> {
  const report = await explore(explored, postOrder(), {
    ...shop,
    name: "create-order",
    only: "2 crash-after",
  });
  const path = join(folder, `${report.ok}.mjs`);
  const text = JSON.stringify(String(report));
  await writeFile(path, `export default [{ ...${JSON.stringify(report)}, toString: () => ${text} }];`);
  return [path, String(report)];
}

describe("onceonly explore", () => {
  it("prints its findings, exits with 1 for a finding, and writes the page", async () => {
    const [path, text] = await moduleOf(handler);
    const page = join(folder, "explored.html");

    const { status, text: printed } = await run([path, "--html", page]);

    expect(status).toBe(1);
    expect(printed).toBe(`${text}\n\nwrote ${page}`);
    expect(await readFile(page, "utf8")).toContain("<svg role");
  });

  it("exits with 0 if nothing was found", async () => {
    const [path, text] = await moduleOf(mended);

    expect(await run([path])).toEqual({ status: 0, text: `${text}\n` });
  });

  it("rejects a module without a report, and says what to export", async () => {
    const path = join(folder, "none.mjs");
    await writeFile(path, "export const report = 1;");

    await expect(run([path])).rejects.toThrow("export default [await explore(handler, event, options)]");
    await expect(run([])).rejects.toThrow(UsageError);
    await expect(run([path, "--html", ""])).rejects.toThrow("--html is empty");
  });
});
