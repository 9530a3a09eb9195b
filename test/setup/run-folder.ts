// A folder of this run of the tests: test/kit/once-per-run.ts keeps in it what several test files need and one of them makes.
import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";

export default async function setupRunFolder(project: TestProject): Promise<() => Promise<void>> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "onceonly-tests-")));
  project.provide("runFolder", folder);
  const remove = () => rm(folder, { recursive: true, force: true });
  // In a watched run the sources have changed.
  project.onTestsRerun(async () => {
    await remove();
    await mkdir(folder);
  });
  return remove;
}
