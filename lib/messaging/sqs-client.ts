/** The way to SQS: the caller's client, or one of ours. Loads the SDK's package, which only senders need installed. */
import type { SendMessageBatchResult, SQSClient } from "@aws-sdk/client-sqs";
import type { SQSClientLike } from "./options.ts";
import type { BatchEntry } from "./send-in-order.ts";

export type SendBatch = (queueUrl: string, entries: BatchEntry[]) => Promise<SendMessageBatchResult>;

/** Loaded at run time: handlers that send nothing neither need the package nor wait for it. */
export async function connectToSqs(given: SQSClientLike | undefined): Promise<SendBatch> {
  const { SendMessageBatchCommand, SQSClient } = await import("@aws-sdk/client-sqs").catch(rethrow);
  const client =
    (given as SQSClient | undefined) ??
    new SQSClient({
      // Without the last one a request that is over its time is only warned about.
      requestHandler: { connectionTimeout: 1000, requestTimeout: 3000, throwOnRequestTimeout: true },
    });
  return (QueueUrl, Entries) => client.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
}

/** Bundlers pass over a package that is not there only where its failure is handled. */
function rethrow(error: unknown): never {
  throw error;
}
