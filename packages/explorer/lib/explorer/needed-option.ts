/** Which option of explore gives what an undisturbed run lacked, by the last refusal of a service. Pure. */
import type { IoService } from "../simulator/io.ts";
import type { TraceEvent } from "../simulator/trace-event.ts";

const MISSING = /NotFound|NotExist|NonExistent|NoSuch/;

const OPTIONS: Partial<Readonly<Record<IoService, (name: string) => string>>> = {
  dynamodb: (name) => `tables: { "${name}": { partitionKey: "id" } }`,
  sqs: (name) => `queues: { "${name}": {} }`,
  sns: (name) => `topics: { "${name}": {} }`,
  ssm: (name) => `parameters: { "${name}": "a value" }`,
  secretsmanager: (name) => `secrets: { "${name}": "a value" }`,
  s3: (name) => `buckets: { "${name}": { "a key": "content" } }`,
};

export function neededOption(trace: readonly TraceEvent[]): string {
  const refused = trace.findLast(({ io, text }) => io !== undefined && MISSING.test(text))?.io;
  const option = refused && OPTIONS[refused.service]?.(refused.target);
  if (refused === undefined || option === undefined)
    return "give it the tables, rows, queues and outside systems that it needs";
  return `${refused.service} does not have what it asked for: give it with \`${option}\``;
}
