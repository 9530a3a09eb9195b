// The one-time schedules that a run's functions create in EventBridge Scheduler: for messages with `deliverAt`.
// https://docs.aws.amazon.com/scheduler/latest/APIReference/API_CreateSchedule.html
import type { AwsAnswer, AwsRequest, ServedAws } from "../aws-endpoint.ts";
import { runSchedule } from "../schedules/run-schedule.ts";
import { nextTimeOf } from "../schedules/schedule-expression.ts";
import { LOCAL_ACCOUNT_ID, LOCAL_PARTITION, type LocalEnvironment } from "./local-environment.ts";
import { type LocalTarget, type TargetProperties, targetOf } from "./resources/local-target.ts";
import { schedulerInput } from "./resources/scheduled-event.ts";

interface ScheduleRequest {
  readonly GroupName?: string;
  readonly ScheduleExpression: string;
  readonly ScheduleExpressionTimezone?: string;
  readonly ActionAfterCompletion?: string;
  readonly Target: TargetProperties & {
    readonly EventBridgeParameters?: { readonly Source: string; readonly DetailType: string };
  };
}

interface Schedule {
  readonly request: ScheduleRequest;
  readonly arn: string;
  readonly canceled: AbortController;
}

const PATH = /^\/schedules\/([^/]+)$/;

export function schedulerService(environmentOf: () => LocalEnvironment): ServedAws {
  /** By ARN. */
  const schedules = new Map<string, Schedule>();
  return (request) => {
    const [, name] = PATH.exec(request.url.pathname) ?? [];
    if (name === undefined || !["POST", "GET", "DELETE"].includes(request.method)) return undefined;
    return Promise.resolve(
      answer(request, decodeURIComponent(name), { schedules, environment: environmentOf() }),
    );
  };
}

interface Place {
  readonly schedules: Map<string, Schedule>;
  readonly environment: LocalEnvironment;
}

function answer({ method, url, body }: AwsRequest, name: string, place: Place): AwsAnswer {
  const { schedules, environment } = place;
  const arnIn = (group: string | null | undefined) =>
    `arn:${LOCAL_PARTITION}:scheduler:${environment.region}:${LOCAL_ACCOUNT_ID}:schedule/${group ?? "default"}/${name}`;
  if (method === "POST") {
    const request = JSON.parse(body.toString("utf8") || "{}") as ScheduleRequest;
    return create(request, arnIn(request.GroupName), name, place);
  }
  const schedule = schedules.get(arnIn(url.searchParams.get("groupName")));
  if (!schedule) return refusal(404, "ResourceNotFoundException", `Schedule ${name} does not exist.`);
  if (method === "GET") return json({ Arn: schedule.arn, Name: name, State: "ENABLED", ...schedule.request });
  schedules.delete(schedule.arn);
  schedule.canceled.abort();
  return json({});
}

function create(
  request: ScheduleRequest,
  arn: string,
  name: string,
  { schedules, environment }: Place,
): AwsAnswer {
  const { ScheduleExpression, ScheduleExpressionTimezone, ActionAfterCompletion, Target } = request;
  const { clock, region, log } = environment;
  if (schedules.has(arn)) return refusal(409, "ConflictException", `Schedule ${name} already exists.`);
  if (!/^at\(/.test(`${ScheduleExpression}`)) {
    const problem = `functions can only create one-time schedules, at(…), in a local run (got ${ScheduleExpression})`;
    return refusal(400, "ValidationException", problem);
  }
  let atMs: number | undefined;
  try {
    atMs = nextTimeOf(ScheduleExpression, 0, ScheduleExpressionTimezone)(Number.NEGATIVE_INFINITY);
  } catch (error) {
    return refusal(400, "ValidationException", (error as Error).message);
  }
  const target = scheduledTarget(Target, environment, `schedule ${name.slice(0, 8)}`);
  if ("problem" in target) return refusal(400, "ValidationException", target.problem);
  const canceled = new AbortController();
  schedules.set(arn, { request, arn, canceled });
  let isDue = true;
  void runSchedule({
    clock,
    signal: AbortSignal.any([environment.signal, canceled.signal]),
    // One in the past is due now.
    next: () => (isDue ? atMs : undefined),
    async fire(dueMs) {
      isDue = false;
      if (ActionAfterCompletion === "DELETE") schedules.delete(arn);
      await target.deliver(schedulerInput(Target, { arn, region, atMs: dueMs }));
    },
  }).catch((error: unknown) => log(`schedule ${name}: ${String(error)}`));
  return json({ ScheduleArn: arn });
}

/** Universal targets call an API with the input, which keeps a message's attributes; a bus is EventBridge's own target. */
function scheduledTarget(
  target: ScheduleRequest["Target"],
  environment: LocalEnvironment,
  path: string,
): LocalTarget | { readonly problem: string } {
  const { Arn = "", EventBridgeParameters } = target;
  const { log, sqs, sns, eventBridge } = environment;
  const sending = (to: (input: never) => string, send: (input: never) => Promise<unknown>): LocalTarget => ({
    async deliver(text) {
      const input = JSON.parse(text) as never;
      const label = `${path} → ${to(input)}`;
      await send(input).then(
        () => log(`${label}: sent`),
        (error: unknown) => log(`${label}: ${String(error)}; lost`),
      );
    },
  });
  if (Arn.endsWith(":::aws-sdk:sqs:sendMessage"))
    return sending(
      ({ QueueUrl }: { readonly QueueUrl: string }) => QueueUrl,
      (input) => sqs.model.call("SendMessage", input),
    );
  if (Arn.endsWith(":::aws-sdk:sns:publish"))
    return sending(
      ({ TopicArn }: { readonly TopicArn: string }) => TopicArn,
      (input) => sns.call("Publish", input),
    );
  if (EventBridgeParameters) {
    const { Source, DetailType } = EventBridgeParameters;
    return sending(
      () => Arn,
      (detail) =>
        eventBridge.call("PutEvents", {
          Entries: [{ EventBusName: Arn, Source, DetailType, Detail: JSON.stringify(detail) }],
        }),
    );
  }
  return targetOf(target, { environment, path });
}

const HEADERS = { "content-type": "application/json" };

const json = (body: object): AwsAnswer => ({ statusCode: 200, headers: HEADERS, body: JSON.stringify(body) });

function refusal(statusCode: number, errorType: string, Message: string): AwsAnswer {
  return {
    statusCode,
    headers: { ...HEADERS, "x-amzn-errortype": errorType },
    body: JSON.stringify({ Message }),
  };
}
