/** Finds the `explore` option that provides what an undisturbed run lacked, from the last error of a service. Pure. */

import { nearest } from "onceonly/kit";
import type { IoService } from "../simulator/io.ts";
import type { TraceEvent } from "../simulator/trace-event.ts";
import type { ExploreOptions } from "./options.ts";

const MISSING = /NotFound|NotExist|NonExistent|NoSuch/;

/** The option that lists a service's names, and an example value. */
const OPTIONS = {
  dynamodb: ["tables", '{ partitionKey: "id" }'],
  sqs: ["queues", "{}"],
  sns: ["topics", "{}"],
  ssm: ["parameters", '"a value"'],
  secretsmanager: ["secrets", '"a value"'],
  s3: ["buckets", '{ "a key": "content" }'],
} as const satisfies Partial<Record<IoService, readonly [keyof ExploreOptions, string]>>;

export function neededOption(trace: readonly TraceEvent[], given: ExploreOptions): string {
  const refused = trace.findLast(({ io, text }) => io !== undefined && MISSING.test(text))?.io;
  const [option, example] = OPTIONS[refused?.service as keyof typeof OPTIONS] ?? [];
  if (refused === undefined || option === undefined)
    return "check that explore() has the tables, rows, queues and outside systems that it needs";
  const remembering = option === "tables" ? [given.idempotencyTable ?? []].flat() : [];
  const names = [...Object.keys(given[option] ?? {}), ...remembering];
  const missing = refused.target.split("+").find((name) => !names.includes(name)) ?? refused.target;
  const meant = nearest(missing, names);
  const hint = meant === undefined ? "" : `did you mean "${meant}"? If not, `;
  return `${refused.service} doesn't have "${missing}": ${hint}add it with \`${option}: { "${missing}": ${example} }\``;
}
