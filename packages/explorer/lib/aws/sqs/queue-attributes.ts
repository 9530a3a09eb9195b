/**
 * The attributes of a queue: their allowed values and their defaults.
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html
 */
import { SqsError } from "./sqs-error.ts";

export type QueueAttributes = Readonly<Record<string, string>>;

const DEFAULTS: QueueAttributes = {
  DelaySeconds: "0",
  MaximumMessageSize: "1048576",
  MessageRetentionPeriod: "345600",
  ReceiveMessageWaitTimeSeconds: "0",
  SqsManagedSseEnabled: "true",
  VisibilityTimeout: "30",
};

const FIFO_DEFAULTS: QueueAttributes = {
  ContentBasedDeduplication: "false",
  DeduplicationScope: "queue",
  FifoQueue: "true",
  FifoThroughputLimit: "perQueue",
};

const RANGES: Readonly<Record<string, readonly [min: number, max: number]>> = {
  DelaySeconds: [0, 900],
  KmsDataKeyReusePeriodSeconds: [60, 86_400],
  MaximumMessageSize: [1024, 1_048_576],
  MessageRetentionPeriod: [60, 1_209_600],
  ReceiveMessageWaitTimeSeconds: [0, 20],
  VisibilityTimeout: [0, 43_200],
};

const CHOICES: Readonly<Record<string, readonly string[]>> = {
  ContentBasedDeduplication: ["true", "false"],
  DeduplicationScope: ["queue", "messageGroup"],
  FifoThroughputLimit: ["perQueue", "perMessageGroupId"],
  SqsManagedSseEnabled: ["true", "false"],
};

/**
 * Any text; the empty string removes the policy. Other files check the content of policies, because that
 * needs the other queues.
 */
const REMOVABLE = ["KmsMasterKeyId", "Policy", "RedriveAllowPolicy", "RedrivePolicy"];

export function defaultAttributes(isFifo: boolean): QueueAttributes {
  return isFifo ? { ...DEFAULTS, ...FIFO_DEFAULTS } : DEFAULTS;
}

/** Whether CreateQueue asks for a FIFO queue; SQS refuses the value "false". */
export function asksForFifo(attributes: QueueAttributes): boolean {
  const value = attributes.FifoQueue;
  if (value === undefined) return false;
  if (value.toLowerCase() === "true") return true;
  throw unknownAttribute("FifoQueue");
}

/** The attributes after a change. Throws for names and values that SQS refuses. */
export function withAttributes(former: QueueAttributes, changes: QueueAttributes): QueueAttributes {
  const isFifo = former.FifoQueue === "true";
  const next: Record<string, string> = { ...former };
  for (const [name, value] of Object.entries(changes)) {
    const checked = checkedValue(name, String(value), isFifo);
    if (checked === "") delete next[name];
    else next[name] = checked;
  }
  if (next.FifoThroughputLimit === "perMessageGroupId" && next.DeduplicationScope !== "messageGroup") {
    throw invalidAttribute(
      "FifoThroughputLimit",
      " Reason: The perMessageGroupId value is allowed only when the value for DeduplicationScope is messageGroup.",
    );
  }
  return next;
}

export function unknownAttribute(name: string): SqsError {
  return new SqsError("InvalidAttributeName", `Unknown Attribute ${name}.`);
}

function checkedValue(name: string, value: string, isFifo: boolean): string {
  if (!isFifo && Object.hasOwn(FIFO_DEFAULTS, name)) throw onlyForFifo(name);
  if (name === "FifoQueue") {
    if (value.toLowerCase() === "true") return "true";
    throw invalidAttribute(name, " Reason: Modifying queue type is not supported.");
  }
  if (REMOVABLE.includes(name)) return value;
  const choices = CHOICES[name];
  if (choices !== undefined) {
    const choice = choices.find((each) => each.toLowerCase() === value.toLowerCase());
    if (choice === undefined) throw invalidAttribute(name, "");
    return choice;
  }
  const range = RANGES[name];
  if (range === undefined) throw unknownAttribute(name);
  const [min, max] = range;
  if (!/^\d+$/.test(value) || Number(value) < min || Number(value) > max) throw invalidAttribute(name, "");
  return String(Number(value));
}

function onlyForFifo(name: string): SqsError {
  if (name === "FifoQueue" || name === "ContentBasedDeduplication") return unknownAttribute(name);
  return new SqsError(
    "InvalidAttributeName",
    `You can specify the ${name} only when FifoQueue is set to true.`,
  );
}

function invalidAttribute(name: string, reason: string): SqsError {
  return new SqsError("InvalidAttributeValue", `Invalid value for the parameter ${name}.${reason}`);
}
