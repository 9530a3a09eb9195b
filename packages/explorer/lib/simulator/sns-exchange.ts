/** Requests of the AWS SDK to SNS as exchanges. */
import type { SnsOperations } from "../aws/sns/operations.ts";
import {
  type QueryAnswer,
  queryAnswer,
  queryError,
  readQueryRequest,
  refusal,
} from "../aws/sns/query-protocol.ts";
import { SnsError } from "../aws/sns/sns-error.ts";
import type { SnsModel } from "../aws/sns/sns-model.ts";
import type { Exchange, RefusedEntries } from "./exchange.ts";
import { failedEntries, REFUSED_BY_FAULT, splitEntries } from "./refused-entries.ts";
import type { SdkHttpRequest, SdkHttpResponse } from "./scene.ts";
import { attemptOf, bodyText, brokenConnection } from "./sdk-request.ts";

type CommandInput = Readonly<Record<string, unknown>>;
type Batch = SnsOperations["PublishBatch"];

const STATUS_OF_THROTTLING = 429;

export function snsExchange(
  request: SdkHttpRequest,
  model: SnsModel,
  envelope: () => { readonly "x-amzn-requestid": string },
): Exchange<SdkHttpResponse> {
  const { operation, input } = readQueryRequest(bodyText(request));
  const described = new WeakMap<SdkHttpResponse, string>();
  const asHttp = (text: string, answerOf: (requestId: string) => QueryAnswer): SdkHttpResponse => {
    const headers = { "content-type": "text/xml", ...envelope() };
    const { statusCode, body } = answerOf(headers["x-amzn-requestid"]);
    const response = { statusCode, headers, body: new TextEncoder().encode(body) };
    described.set(response, text);
    return response;
  };
  const answered = async (work: Promise<object>): Promise<SdkHttpResponse> => {
    try {
      const output = await work;
      return asHttp("ok", (id) => queryAnswer(operation, output, id));
    } catch (error) {
      if (!(error instanceof SnsError)) throw error;
      return asHttp(error.name, (id) => queryError(error, id));
    }
  };
  const refused = async (code: string, status: number) =>
    asHttp(code, (id) => refusal(code, status, REFUSED_BY_FAULT, id));
  const call = (changed: object) => model.call(operation as "Publish", changed as never);
  const { TopicArn, Name } = input as { TopicArn?: string; Name?: string };
  return {
    io: {
      service: "sns",
      operation,
      target: Name ?? TopicArn?.slice(TopicArn.lastIndexOf(":") + 1) ?? "",
      input: input as CommandInput,
      attempt: attemptOf(request),
    },
    run: () => answered(call(input)),
    runWithout: (fault) => answered(publishWithout(model, input as Batch["input"], fault)),
    broken: brokenConnection,
    throttled: () => refused("Throttled", STATUS_OF_THROTTLING),
    refused: ({ code, status = 400 }) => refused(code, status),
    describe: (response) => described.get(response) ?? String(response.statusCode),
  };
}

async function publishWithout(
  model: SnsModel,
  { PublishBatchRequestEntries: entries, ...rest }: Batch["input"],
  fault: RefusedEntries,
): Promise<Batch["output"]> {
  const { passed, refused } = splitEntries(entries, fault);
  const input = { ...rest, PublishBatchRequestEntries: passed };
  const answer = passed.length === 0 ? {} : await model.call("PublishBatch", input);
  return { ...answer, Failed: [...(answer.Failed ?? []), ...failedEntries(refused, fault)] };
}
