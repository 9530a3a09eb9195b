/** Messages as a service takes them, several in a request, and how each of them ended. What all services have in common. */
import type { SendResult } from "../core/errors.ts";

/** All three services take at most so many messages in a request. */
export const MAX_ENTRIES = 10;

export interface Entry<Form> {
  /** What the service is given, but for the entry's id in its request. */
  readonly form: Form;
  /** As the service counts them. */
  readonly bytes: number;
  /** What goes in order: an entry leaves only after the one before it of the same line. `undefined` waits for nobody. */
  readonly line: string | undefined;
}

export interface EntryEnd {
  readonly result: SendResult;
  /** Whether the same entry may succeed later. */
  readonly mayPass: boolean;
}

/** Sends entries in one request, until `signal` aborts; answers for each, in their order. */
export type Request<Form> = (forms: readonly Form[], signal?: AbortSignal) => Promise<readonly EntryEnd[]>;

/** The answer of SQS and of SNS to a batch. */
export interface BatchAnswer {
  readonly Successful?:
    | readonly {
        readonly Id?: string | undefined;
        readonly MessageId?: string;
        readonly SequenceNumber?: string;
      }[]
    | undefined;
  readonly Failed?:
    | readonly { readonly Id?: string | undefined; readonly Code?: string; readonly SenderFault?: boolean }[]
    | undefined;
}

/** Gives each entry an id for its request: its place in it. */
export function withIds<Form>(forms: readonly Form[]): (Form & { Id: string })[] {
  return forms.map((form, index) => ({ Id: String(index), ...form }));
}

export function readAnswer(answer: BatchAnswer, forms: readonly unknown[]): readonly EntryEnd[] {
  return forms.map((_, index) => {
    const id = String(index);
    const sent = answer.Successful?.find(({ Id }) => Id === id);
    if (sent !== undefined) return sentAs(sent.MessageId, sent.SequenceNumber);
    const failed = answer.Failed?.find(({ Id }) => Id === id);
    return notSent(failed?.Code, !failed?.SenderFault);
  });
}

export function sentAs(messageId = "", sequenceNumber = ""): EntryEnd {
  return { result: { sent: true, messageId, sequenceNumber }, mayPass: false };
}

/** Throttling, by the service or by KMS, may count as the sender's fault and still passes. */
export function notSent(code = "NoAnswer", mayPass: boolean): EntryEnd {
  return { result: { sent: false, code: codeOf(code) }, mayPass: mayPass || /throttl/i.test(code) };
}

/** As services and clients name what went wrong. Anything else may be long, or tell what it should not. */
const CODE = /^[\w.$-]{1,64}$/;

/** The first of these that is a code. */
export function codeOf(...names: readonly unknown[]): string {
  return [...names, "Error"].find((name) => typeof name === "string" && CODE.test(name)) as string;
}

/** UTF-8, as all three services count. */
export function bytesOf(...texts: readonly string[]): number {
  return texts.reduce((bytes, text) => bytes + Buffer.byteLength(text), 0);
}

/** Why nothing is sent there, whatever the message says: its name is the code of the messages concerned. */
export class DestinationRefused extends Error {
  override readonly name = "DestinationRefused";
}
