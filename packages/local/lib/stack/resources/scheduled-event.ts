// The input of a schedule's target: the template's, or the event that reports that the schedule was due. Pure.
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-create-rule-schedule.html
import { randomUUID } from "node:crypto";
import { LOCAL_ACCOUNT_ID } from "../local-environment.ts";

export interface Occasion {
  /** The ARN of the rule or schedule. */
  readonly arn: string;
  readonly region: string;
  /** When it was due. */
  readonly atMs: number;
}

interface WithInput {
  readonly Input?: string;
}

export function ruleInput({ Input }: WithInput, occasion: Occasion): string {
  return Input ?? JSON.stringify(scheduledEvent("aws.events", {}, occasion));
}

/** Fills in the attributes of the context: https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-schedule-context-attributes.html */
export function schedulerInput({ Input }: WithInput, occasion: Occasion): string {
  if (Input === undefined) return JSON.stringify(scheduledEvent("aws.scheduler", "{}", occasion));
  return Input.replaceAll("<aws.scheduler.schedule-arn>", occasion.arn)
    .replaceAll("<aws.scheduler.scheduled-time>", secondsOf(occasion.atMs))
    .replaceAll("<aws.scheduler.execution-id>", randomUUID())
    .replaceAll("<aws.scheduler.attempt-number>", "1");
}

function scheduledEvent(source: string, detail: unknown, { arn, region, atMs }: Occasion): object {
  return {
    version: "0",
    id: randomUUID(),
    "detail-type": "Scheduled Event",
    source,
    account: LOCAL_ACCOUNT_ID,
    time: secondsOf(atMs),
    region,
    resources: [arn],
    detail,
  };
}

function secondsOf(atMs: number): string {
  return new Date(atMs).toISOString().replace(/\.\d{3}Z$/, "Z");
}
