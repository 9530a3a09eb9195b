// Picks up an app's changes while it runs: checks its files twice a second, reads the app again when one has changed, and
// applies the changes that it can.
import { existsSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import type { Clock } from "onceonly/kit";
import { applyChanges } from "./apply-changes.ts";
import type { PlannedStack } from "./deploy-stack.ts";
import type { AppReading } from "./read-app.ts";
import { createSourceFiles } from "./source-files.ts";

export interface WatchAppOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly running: readonly PlannedStack[];
  readonly first: AppReading;
  readonly readAgain: () => Promise<AppReading>;
  readonly report: (line: string) => void;
}

const INTERVAL_MS = 500;
/** A build writes many files: it is over when nothing has changed for so long. */
const QUIET_MS = 100;
/** Checking a large app's files uses at most a tenth of the time. */
const PAUSE_PER_LOOK = 10;
/** A folder with one of these has the sources of all packages that an app may import. */
const ROOT_MARKS = [".git", "bun.lock", "package-lock.json", "pnpm-lock.yaml", "yarn.lock"];

/** Watches until the signal aborts. Never rejects: errors are reported, and the app keeps running as it is. */
export async function watchApp(options: WatchAppOptions): Promise<void> {
  const { clock, signal, first, report } = options;
  const files = createSourceFiles();
  const readings = [first];
  let { running } = options;
  let reported: readonly string[] = [];

  async function apply(): Promise<void> {
    const startedAtMs = clock.now();
    const reading = await options.readAgain();
    readings.push(reading);
    const { planned, functions, needRestart } = await applyChanges(running, reading.stacks);
    running = planned;
    const seconds = ((clock.now() - startedAtMs) / 1000).toFixed(1);
    const names = functions.join(", ");
    report(names === "" ? `no function changed (${seconds} s)` : `picked up after ${seconds} s: ${names}`);
    for (const line of needRestart) if (!reported.includes(line)) report(`needs a restart: ${line}`);
    reported = needRestart;
    await removeUnused(readings, running);
  }

  async function look(): Promise<void> {
    const changed: string[] = [];
    let lookedMs = 0;
    for (;;) {
      const pauseMs = changed.length > 0 ? QUIET_MS : INTERVAL_MS;
      await clock.sleep(Math.max(pauseMs, lookedMs * PAUSE_PER_LOOK), signal, "background");
      if (signal.aborted) return;
      const startedAtMs = clock.now();
      const more = files.changed(rootsOf(readings.at(-1) ?? first));
      lookedMs = clock.now() - startedAtMs;
      changed.push(...more);
      if (changed.length === 0 || more.length > 0) continue;
      report(`changed: ${summaryOf(changed)}`);
      return apply();
    }
  }

  try {
    files.changed(rootsOf(first));
  } catch (error) {
    return report(`can't watch for code changes: ${(error as Error).message}`);
  }
  while (!signal.aborted) {
    await look().catch((error: Error) => {
      if (!signal.aborted) report(`change not applied, the previous code keeps running: ${error.message}`);
    });
  }
}

/** The files that may change an app: its project or, if it is read in place, the template and the folders of its code. */
function rootsOf({ assembly, source, stacks }: AppReading): string[] {
  if (assembly) return [projectOf(source)];
  const assets = stacks.flatMap((stack) => [...stack.assets.values()].map(({ path }) => path));
  return [source, ...new Set(assets.filter((path) => relative(source, path).startsWith("..")))];
}

function projectOf(folder: string): string {
  for (let at = resolve(folder); dirname(at) !== at; at = dirname(at)) {
    if (ROOT_MARKS.some((mark) => existsSync(join(at, mark)))) return at;
  }
  return folder;
}

function summaryOf(paths: readonly string[]): string {
  const names = [...new Set(paths)].map((path) => relative(process.cwd(), path));
  return names.length > 3 ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} more` : names.join(", ");
}

/**
 * Removes the assemblies that no function runs from. The last two stay: an invocation that began before the change may be
 * copying its code.
 */
async function removeUnused(readings: AppReading[], running: readonly PlannedStack[]): Promise<void> {
  const functions = running[0]?.options.environment.functions.values() ?? [];
  const used = [...functions].map(({ codeDirectory }) => codeDirectory);
  for (const reading of readings.slice(0, -2)) {
    const { assembly } = reading;
    if (assembly && used.some((path) => path.startsWith(join(assembly.folder, "/")))) continue;
    readings.splice(readings.indexOf(reading), 1);
    await assembly?.remove();
  }
}
