/** Everything the tests state about SQS; each subject runs the same. */
import { batchCases } from "./batch-cases.ts";
import { batchRefusalCases } from "./batch-refusal-cases.ts";
import type { SqsCase } from "./case.ts";
import { deadLetterCases } from "./dead-letter-cases.ts";
import { deduplicationCases } from "./deduplication-cases.ts";
import { fifoCases } from "./fifo-cases.ts";
import { fifoReceiptCases } from "./fifo-receipt-cases.ts";
import { messageCases } from "./message-cases.ts";
import { messageLimitCases } from "./message-limit-cases.ts";
import { queueAttributeCases } from "./queue-attribute-cases.ts";
import { queueCases } from "./queue-cases.ts";
import { receiptCases } from "./receipt-cases.ts";
import { receiveCases } from "./receive-cases.ts";
import { redriveCases } from "./redrive-cases.ts";
import { redrivePolicyCases } from "./redrive-policy-cases.ts";
import { redriveTaskCases } from "./redrive-task-cases.ts";
import { waitingCases } from "./waiting-cases.ts";

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
