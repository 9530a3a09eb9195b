/** Everything the tests state about SQS; each subject runs the same. */
import { batchCases } from "./batch.ts";
import { batchRefusalCases } from "./batch-refusal.ts";
import type { SqsCase } from "./case.ts";
import { deadLetterCases } from "./dead-letter.ts";
import { deduplicationCases } from "./deduplication.ts";
import { fifoCases } from "./fifo.ts";
import { fifoReceiptCases } from "./fifo-receipt.ts";
import { messageCases } from "./message.ts";
import { messageLimitCases } from "./message-limit.ts";
import { queueCases } from "./queue.ts";
import { queueAttributeCases } from "./queue-attribute.ts";
import { receiptCases } from "./receipt.ts";
import { receiveCases } from "./receive.ts";
import { redriveCases } from "./redrive.ts";
import { redrivePolicyCases } from "./redrive-policy.ts";
import { redriveTaskCases } from "./redrive-task.ts";
import { waitingCases } from "./waiting.ts";

export const sqsCases: Readonly<Record<string, readonly SqsCase[]>> = {
  queues: [...queueCases, ...queueAttributeCases],
  messages: [...messageCases, ...messageLimitCases],
  receiving: [...receiveCases, ...waitingCases],
  "receipt handles": [...receiptCases, ...fifoReceiptCases],
  "message groups": fifoCases,
  deduplication: deduplicationCases,
  "dead letters": [...deadLetterCases, ...redrivePolicyCases],
  redrive: [...redriveCases, ...redriveTaskCases],
  batches: [...batchCases, ...batchRefusalCases],
};
