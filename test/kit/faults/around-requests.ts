/** Stands between a client of the SDK and what it asks: whoever looks into requests, changes or fails them does so here. */
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { SQSClient } from "@aws-sdk/client-sqs";

export type SdkClient = Pick<DynamoDBClient | SQSClient, "middlewareStack">;

export interface Answer {
  readonly output: object;
}

export interface Asked {
  /** Such as `UpdateItem`. */
  readonly command: string;
  readonly input: object;
  /** Sends the request on, or another one in its place. */
  send(input?: object): Promise<Answer>;
}

const PLACES = {
  /** Once for each call, before everything else that is put around calls. */
  front: { step: "initialize", priority: "high" },
  /** Once for each call, before the SDK's own tries. */
  call: { step: "initialize" },
  /** Once for each try of the SDK, next to the wire. */
  wire: { step: "finalizeRequest", priority: "low" },
} as const;

export interface AroundOptions {
  /** @default "call" */
  readonly at?: keyof typeof PLACES;
  /** Replaces what was put around under the same name. @default - replaces nothing */
  readonly name?: string;
}

let last = 0;

/** Does `around` from now on for each request. @returns what ends that */
export function aroundRequests(
  client: SdkClient,
  around: (asked: Asked) => Promise<object>,
  { at = "call", name = `around-${++last}` }: AroundOptions = {},
): () => void {
  const { middlewareStack } = client as Pick<DynamoDBClient, "middlewareStack">;
  middlewareStack.add(
    (next, { commandName }) =>
      (args) =>
        around({
          command: String(commandName).replace(/Command$/, ""),
          input: args.input,
          send: (input = args.input) => next({ ...args, input: input as typeof args.input }) as never,
        }) as never,
    { ...PLACES[at], name, override: true } as never,
  );
  return () => void middlewareStack.remove(name);
}
