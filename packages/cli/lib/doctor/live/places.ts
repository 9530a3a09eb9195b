/** Names and ARNs as the doctor reads them. Pure. */
import { TYPES } from "../diagnosed-stack.ts";
import type { LiveModel, LivePlace } from "./model.ts";

/** The place that an ARN names. */
export function placeOfArn(arn: string): LivePlace {
  const [, , , region = "", , ...name] = arn.split(":");
  return { region, name: name.join(":").replace(/^(table\/|function:)/, "") };
}

/** The place of a table or a function, by its name or its ARN. */
export const placeOf = (nameOrArn: string, region: string): LivePlace =>
  nameOrArn.startsWith("arn:") ? placeOfArn(nameOrArn) : { region, name: nameOrArn };

/** The streams of tables, and the ids of those, by the part of their ARNs that a table keeps. */
export type Streams = Map<string, { readonly id: string; readonly arn: string }>;

export const streamKey = (streamArn: string): string => streamArn.split("/stream/")[0]!;

/** What stands for the source of an event source. */
export function sourceOf(model: LiveModel, streams: Streams, source: string): object {
  const [, , service] = source.split(":");
  if (service === "sqs") return { EventSourceArn: model.refer(TYPES.queue, placeOfArn(source)) };
  const stream = streams.get(streamKey(source));
  if (stream === undefined) return { EventSourceArn: source };
  const { id, arn } = stream;
  return arn === source ? { EventSourceArn: { Ref: id } } : { EventSourceArn: source, FormerStreamOf: id };
}
