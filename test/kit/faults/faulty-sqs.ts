/** Entries of a batch that SQS refuses, and a record of the batches that were asked for. */
import type { SendMessageBatchRequestEntry, SendMessageBatchResult, SQSClient } from "@aws-sdk/client-sqs";
import { aroundRequests } from "./around-requests.ts";

export interface Fault {
  readonly Code: string;
  readonly SenderFault: boolean;
}

export const BUSY: Fault = { Code: "InternalError", SenderFault: false };
export const WRONG: Fault = { Code: "InvalidParameterValue", SenderFault: true };
export const THROTTLED: Fault = { Code: "KmsThrottled", SenderFault: true };

interface Batch {
  readonly Entries?: readonly SendMessageBatchRequestEntry[];
}

/** Entries that `faultOf` has a fault for do not reach SQS; the others do. */
export function failEntries(
  client: SQSClient,
  faultOf: (entry: SendMessageBatchRequestEntry) => Fault | undefined,
): void {
  aroundRequests(
    client,
    async ({ input, send }) => {
      const { Entries = [] } = input as Batch;
      const ends = Entries.map((entry) => ({ entry, fault: faultOf(entry) }));
      const Failed = ends.flatMap(({ entry, fault }) => (fault ? [{ Id: entry.Id, ...fault }] : []));
      const passed = ends.filter(({ fault }) => !fault).map(({ entry }) => entry);
      if (passed.length === 0) return { output: { $metadata: {}, Failed }, response: {} };
      const answer = await send({ ...input, Entries: passed });
      const output = answer.output as SendMessageBatchResult;
      return { ...answer, output: { ...output, Failed: [...(output.Failed ?? []), ...Failed] } };
    },
    { name: "failEntries" },
  );
}

/** The bodies of each request, in the order of the requests. */
export function noteRequests(client: SQSClient): string[][] {
  const requests: string[][] = [];
  aroundRequests(
    client,
    ({ input, send }) => {
      const { Entries = [] } = input as Batch;
      requests.push(Entries.map(({ MessageBody }) => String(MessageBody)));
      return send();
    },
    { at: "front", name: "noteRequests" },
  );
  return requests;
}
