// Whom the requests go to: a sample that is started for the run, or one that runs already on this machine. Pure.
import { loopbackOrigin } from "./loopback.ts";

export type Target = OwnTarget | RunningTarget;

export interface OwnTarget {
  readonly kind: "own";
  /** The folder of another build of the sample. @default - the sample */
  readonly app?: string | undefined;
  /** Whether answers are lost and writes throttled, as in the demo. */
  readonly faults: boolean;
}

export interface RunningTarget {
  readonly kind: "running";
  readonly url: string;
  /** Where its tables are. @default - only orders are counted, by its API */
  readonly dynamodb?: string | undefined;
  /** Where its queues are. @default - nobody looks into them */
  readonly sqs?: string | undefined;
}

export interface GivenTarget {
  readonly url?: string | undefined;
  readonly dynamodb?: string | undefined;
  readonly sqs?: string | undefined;
  readonly app?: string | undefined;
  readonly faults?: boolean | undefined;
}

/** @throws Error that names the option, its rule and what it got */
export function readTarget({ url, dynamodb, sqs, app, faults = false }: GivenTarget): Target {
  if (url === undefined) {
    if (dynamodb !== undefined || sqs !== undefined) {
      throw new Error("--dynamodb and --sqs say where a running sample has its data; give its --url, too");
    }
    return { kind: "own", faults, ...(app !== undefined && { app }) };
  }
  if (app !== undefined || faults) {
    throw new Error("--app and --faults are for a sample that is started for the run; leave out --url");
  }
  return {
    kind: "running",
    url: loopbackOrigin("--url", url),
    ...(dynamodb !== undefined && { dynamodb: loopbackOrigin("--dynamodb", dynamodb) }),
    ...(sqs !== undefined && { sqs: loopbackOrigin("--sqs", sqs) }),
  };
}
