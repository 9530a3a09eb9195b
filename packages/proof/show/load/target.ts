// The target of the requests: a sample that is started for the run, or one that already runs on this machine. Pure.
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
  /** Its DynamoDB endpoint. @default - only orders are counted, through its API */
  readonly dynamodb?: string | undefined;
  /** Its SQS endpoint. @default - queues are not inspected */
  readonly sqs?: string | undefined;
}

export interface GivenTarget {
  readonly url?: string | undefined;
  readonly dynamodb?: string | undefined;
  readonly sqs?: string | undefined;
  readonly app?: string | undefined;
  readonly faults?: boolean | undefined;
}

/** @throws Error that names the option, its rule and the value it got */
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
