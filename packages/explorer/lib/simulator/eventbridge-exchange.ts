/** Requests of the AWS SDK to EventBridge as exchanges. */
import { EventBridgeError } from "../aws/eventbridge/eventbridge-error.ts";
import type { EventBridgeModel } from "../aws/eventbridge/eventbridge-model.ts";
import type {
  EventBridgeOperations,
  PutEventsEntry,
  PutEventsResult,
} from "../aws/eventbridge/operations.ts";
import type { Exchange, RefusedEntries } from "./exchange.ts";
import { REFUSED_BY_FAULT, splitEntries } from "./refused-entries.ts";
import type { SdkHttpRequest, SdkHttpResponse } from "./scene.ts";
import { attemptOf, bodyText, brokenConnection, headerOf } from "./sdk-request.ts";

type CommandInput = Readonly<Record<string, unknown>>;
type PutEvents = EventBridgeOperations["PutEvents"];

const TARGET = /^AWSEvents\.(\w+)$/;

export function eventBridgeExchange(
  request: SdkHttpRequest,
  model: EventBridgeModel,
  envelope: () => Readonly<Record<string, string>>,
): Exchange<SdkHttpResponse> {
  const operation = TARGET.exec(headerOf(request, "x-amz-target") ?? "")?.[1] ?? "";
  const input = JSON.parse(bodyText(request) || "{}") as CommandInput;
  const described = new WeakMap<SdkHttpResponse, string>();
  const asHttp = (text: string, statusCode: number, content: object): SdkHttpResponse => {
    const headers = { "content-type": "application/x-amz-json-1.1", ...envelope() };
    const response = { statusCode, headers, body: new TextEncoder().encode(JSON.stringify(content)) };
    described.set(response, text);
    return response;
  };
  const refused = (code: string, status: number, message = REFUSED_BY_FAULT) =>
    asHttp(code, status, { __type: code, message });
  const answered = async (work: Promise<object>): Promise<SdkHttpResponse> => {
    try {
      return asHttp("ok", 200, await work);
    } catch (error) {
      if (!(error instanceof EventBridgeError)) throw error;
      return refused(error.name, error.statusCode, error.message);
    }
  };
  return {
    io: { service: "eventbridge", operation, target: busIn(input), input, attempt: attemptOf(request) },
    run: () => answered(model.call(operation as "PutEvents", input as never)),
    runWithout: (fault) => answered(putWithout(model, input as PutEvents["input"], fault)),
    broken: brokenConnection,
    throttled: async () => refused("ThrottlingException", 400),
    refused: async ({ code, status = 400 }) => refused(code, status),
    describe: (response) => described.get(response) ?? String(response.statusCode),
  };
}

/** The answers have the order of the entries. */
async function putWithout(
  model: EventBridgeModel,
  { Entries }: PutEvents["input"],
  fault: RefusedEntries,
): Promise<PutEvents["output"]> {
  const { passed } = splitEntries(Entries, fault);
  const answers = passed.length === 0 ? [] : (await model.call("PutEvents", { Entries: passed })).Entries;
  const left = [...answers];
  const results = Entries.map((_, place): PutEventsResult => {
    if (!fault.entries.includes(place)) return left.shift() ?? {};
    return { ErrorCode: fault.code, ErrorMessage: REFUSED_BY_FAULT };
  });
  return {
    FailedEntryCount: results.filter(({ ErrorCode }) => ErrorCode !== undefined).length,
    Entries: results,
  };
}

/** The names of the buses, joined by `+`. */
function busIn({ Entries, EventBusName, Name }: CommandInput): string {
  if (!Array.isArray(Entries)) return nameOf(EventBusName ?? Name);
  return [...new Set(Entries.map((entry: PutEventsEntry) => nameOf(entry.EventBusName)))].join("+");
}

function nameOf(nameOrArn: unknown = "default"): string {
  return String(nameOrArn).replace(/^.*\//, "");
}
