// A folder of this run of the tests: test/kit/once-per-run.ts keeps in it what several test files need and one of them makes.
import { chmod, mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";

export default async function setupRunFolder(project: TestProject): Promise<() => Promise<void>> {
  const home = await realpath(await mkdtemp(join(tmpdir(), "onceonly-tests-")));
  const folder = join(home, "run");
  await mkdir(folder);
  project.provide("runFolder", folder);
  // Temporary files of tests, libraries and engines are removed too. PostgreSQL doesn't run as root: its user must get there.
  await chmod(home, 0o711);
  process.env.TMPDIR = home;
  // In a watched run the sources have changed.
  project.onTestsRerun(async () => {
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder);
  });
  return () => rm(home, { recursive: true, force: true });
}
