// Faults at the edge of the SDK: entries of a batch that SQS refuses, and a record of what was asked.
import type { SendMessageBatchRequestEntry, SendMessageBatchResult, SQSClient } from "@aws-sdk/client-sqs";

export interface Fault {
  readonly Code: string;
  readonly SenderFault: boolean;
}

export const BUSY: Fault = { Code: "InternalError", SenderFault: false };
export const WRONG: Fault = { Code: "InvalidParameterValue", SenderFault: true };
export const THROTTLED: Fault = { Code: "KmsThrottled", SenderFault: true };

/** Entries that `faultOf` has a fault for do not reach SQS; the others do. */
export function failEntries(
  client: SQSClient,
  faultOf: (entry: SendMessageBatchRequestEntry) => Fault | undefined,
): void {
  client.middlewareStack.add(
    (next) => async (args) => {
      const { Entries = [], ...rest } = args.input as { Entries?: SendMessageBatchRequestEntry[] };
      const passed: SendMessageBatchRequestEntry[] = [];
      const Failed: object[] = [];
      for (const entry of Entries) {
        const fault = faultOf(entry);
        if (fault === undefined) passed.push(entry);
        else Failed.push({ Id: entry.Id, ...fault });
      }
      if (passed.length === 0) return { output: { $metadata: {}, Failed }, response: {} } as never;
      const answer = await next({ ...args, input: { ...rest, Entries: passed } as never });
      const output = answer.output as SendMessageBatchResult;
      return { ...answer, output: { ...output, Failed: [...(output.Failed ?? []), ...Failed] } as never };
    },
    { step: "initialize", name: "failEntries", override: true },
  );
}

/** The bodies of each request, in the order of the requests. */
export function noteRequests(client: SQSClient): string[][] {
  const requests: string[][] = [];
  client.middlewareStack.add(
    (next) => (args) => {
      const { Entries = [] } = args.input as { Entries?: SendMessageBatchRequestEntry[] };
      requests.push(Entries.map(({ MessageBody }) => String(MessageBody)));
      return next(args);
    },
    { step: "initialize", name: "noteRequests", priority: "high", override: true },
  );
  return requests;
}
