// Explores a foreign handler, and compares the report with what is right.
import { createRequire } from "node:module";
import { explore } from "../../../explorer/lib/explorer/explore.ts";
import type { ExploreReport } from "../../../explorer/lib/explorer/report.ts";
import type { LambdaHandler } from "../../../explorer/lib/simulator/simulated-function.ts";
import type { ForeignHandler, RefusedHandler } from "./foreign-handler.ts";

export interface Explored {
  readonly handler: ForeignHandler;
  readonly report: ExploreReport;
  /** Of the handler in `handlers/fixed`. */
  readonly fixed: ExploreReport | undefined;
  /** Where a report isn't right. */
  readonly wrong: readonly string[];
}

const require = createRequire(import.meta.url);

export async function exploreForeign(handler: ForeignHandler): Promise<Explored> {
  const { file, right, says, fix } = handler;
  const report = await exploreFile(file, handler);
  const fixed = fix === undefined ? undefined : await exploreFile(`fixed/${file}`, handler);
  const found = [...new Set(report.findings.map(({ kind }) => kind))].sort();
  const wanted = [...right].sort();
  const wrong: string[] = [];
  if (`${found}` !== `${wanted}`)
    wrong.push(`${file}: found ${namesOf(found)}, but right is ${namesOf(wanted)}\n${report}`);
  if (says !== undefined && !report.findings.some(({ what }) => what.includes(says)))
    wrong.push(`${file}: no finding says "${says}"\n${report}`);
  if (fixed && !fixed.ok) wrong.push(`fixed/${file} isn't exactly once\n${fixed}`);
  return { handler, report, fixed, wrong };
}

/** @returns what the explorer says about a handler that it refuses; `undefined` if it doesn't refuse it */
export async function refusalOf(handler: RefusedHandler): Promise<string | undefined> {
  return exploreFile(`refused/${handler.file}`, handler).then(
    () => undefined,
    (error: Error) => error.message,
  );
}

type Given = Pick<ForeignHandler, "file" | "env" | "event" | "options">;

async function exploreFile(file: string, { env = {}, event, options }: Given): Promise<ExploreReport> {
  const former = Object.keys(env).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, env);
  try {
    const given = options?.perEnvironment ? () => reloaded(file) : await loaded(file);
    return await explore(given as LambdaHandler, event, { name: file, timeoutSeconds: 10, ...options });
  } finally {
    for (const [name, value] of former) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}

interface HandlerModule {
  readonly handler: unknown;
}

async function loaded(file: string): Promise<unknown> {
  if (file.endsWith(".cjs")) return reloaded(file);
  const url = new URL(`./handlers/${file}`, import.meta.url).href;
  return ((await import(url)) as HandlerModule).handler;
}

/** A CommonJS module can be loaded again, with variables of its own. */
function reloaded(file: string): unknown {
  const path = require.resolve(`./handlers/${file}`);
  delete require.cache[path];
  return (require(path) as HandlerModule).handler;
}

const namesOf = (kinds: readonly string[]) => (kinds.length > 0 ? kinds.join(", ") : "exactly once");
