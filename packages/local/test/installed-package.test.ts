import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkInstalled } from "../lib/installed-package.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "onceonly-installed-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** A project with this version of the runtime client. */
async function projectWith(version: string): Promise<string> {
  const project = join(folder, version);
  const place = join(project, "node_modules", "aws-lambda-ric");
  await mkdir(place, { recursive: true });
  await writeFile(
    join(place, "package.json"),
    JSON.stringify({ name: "aws-lambda-ric", version, main: "index.mjs" }),
  );
  await writeFile(join(place, "index.mjs"), "");
  return project;
}

describe("checkInstalled", () => {
  it("uses the runtime client that starts functions by itself", async () => {
    const project = await projectWith("4.0.2");

    expect(() => checkInstalled(project)).not.toThrow();
  });

  it("rejects an older runtime client, which npm chooses on Node 20, and says what to install", async () => {
    const project = await projectWith("3.3.0");

    const check = () => checkInstalled(project);

    expect(check).toThrow("aws-lambda-ric runs the functions (found 3.3.0, but version 4 is needed)");
    expect(check).toThrow("npm install --save-dev --ignore-scripts aws-lambda-ric@4");
  });
});
