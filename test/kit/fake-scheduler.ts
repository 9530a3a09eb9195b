// EventBridge Scheduler below the SDK's own client: keeps one-time schedules, and delivers them to a queue when they are due.
import { type CreateScheduleInput, SchedulerClient } from "@aws-sdk/client-scheduler";

export const GROUP_ARN = "arn:aws:scheduler:us-east-1:000000000000:schedule-group/later";
export const ROLE_ARN = "arn:aws:iam::000000000000:role/scheduler";

export type Created = CreateScheduleInput & { readonly Name: string };

interface WireRequest {
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** `fault` names the error of the next requests, or is the status of an answer that isn't the service's. */
export function fakeScheduler(clock: { now(): number }) {
  const schedules = new Map<string, Created>();
  const requests: string[] = [];
  const faults: (string | undefined)[] = [];
  const answer = (statusCode: number, body: object, headers: Record<string, string> = {}) => ({
    response: { statusCode, headers, body: Buffer.from(JSON.stringify(body)) },
  });
  const refusal = (statusCode: number, name: string) =>
    answer(statusCode, { Message: name }, { "x-amzn-errortype": name });

  const handle = async ({ method, path, query, body }: WireRequest) => {
    const name = decodeURIComponent(path.replace("/schedules/", ""));
    requests.push(method === "POST" ? "create" : "delete");
    const fault = faults.shift();
    if (fault === "ECONNRESET") throw Object.assign(new Error("reset"), { code: fault });
    if (fault !== undefined) return refusal(fault.startsWith("Internal") ? 500 : 400, fault);
    if (method === "DELETE") {
      if (query?.groupName !== "later" || !schedules.delete(name))
        return refusal(404, "ResourceNotFoundException");
      return answer(200, {});
    }
    const input: Created = { Name: name, ...JSON.parse(Buffer.from(body ?? "").toString()) };
    if (dueOf(input) <= clock.now()) return refusal(400, "ValidationException");
    if (schedules.has(name)) return refusal(409, "ConflictException");
    schedules.set(name, input);
    return answer(200, { ScheduleArn: `arn:aws:scheduler:us-east-1:000000000000:schedule/later/${name}` });
  };

  const client = new SchedulerClient({
    region: "us-east-1",
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
    requestHandler: { handle } as never,
    maxAttempts: 1,
  });
  return {
    client,
    options: { groupArn: GROUP_ARN, roleArn: ROLE_ARN, client },
    requests,
    faults,
    schedules,
    /** The schedules that are due, which are deleted. */
    takeDue(): Created[] {
      const due = [...schedules.values()].filter((each) => dueOf(each) <= clock.now());
      for (const { Name } of due) schedules.delete(Name);
      return due;
    },
  };
}

const dueOf = ({ ScheduleExpression }: Created): number =>
  Date.parse(`${/^at\((.+)\)$/.exec(`${ScheduleExpression}`)?.[1]}Z`);

export const inputOf = ({ Target }: Created): Record<string, unknown> => JSON.parse(`${Target?.Input}`);
