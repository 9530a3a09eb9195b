/** SES in memory: every email is accepted and kept. It has the operations of both versions that send. */
import { readQueryRequest } from "../sns/query-protocol.ts";
import type { AwsHttpAnswer, AwsHttpCall, AwsHttpRequest, AwsHttpService } from "./http-service.ts";

export interface SentEmail {
  /** "SendEmail" */
  readonly operation: string;
  /** The input of the SDK's command. */
  readonly input: Readonly<Record<string, unknown>>;
}

const PATHS: Readonly<Record<string, string>> = {
  "/v2/email/outbound-emails": "SendEmail",
  "/v2/email/outbound-bulk-emails": "SendBulkEmail",
};
const VERSION_1 = /^Send(Raw|Templated|BulkTemplated|Bounce)?(Email)?$/;

export class SesModel implements AwsHttpService {
  readonly sent: SentEmail[] = [];
  readonly throttling = { code: "TooManyRequestsException", status: 429 };

  read({ url, method, body }: AwsHttpRequest): AwsHttpCall | undefined {
    const text = new TextDecoder().decode(body);
    const operation = PATHS[url.pathname];
    if (operation !== undefined && method === "POST") {
      const input = JSON.parse(text) as SentEmail["input"];
      return this.#call({ operation, input }, (id) => ({
        status: 200,
        headers: { "content-type": "application/json" },
        body: JSON.stringify(bulkOrOne(input, id)),
      }));
    }
    const { operation: action, input } = readQueryRequest(text);
    if (!VERSION_1.test(action)) return undefined;
    return this.#call({ operation: action, input: input as SentEmail["input"] }, (id) => ({
      status: 200,
      headers: { "content-type": "text/xml" },
      body: `<${action}Response><${action}Result><MessageId>${id}</MessageId></${action}Result></${action}Response>`,
    }));
  }

  refusal(code: string, status: number, message: string): AwsHttpAnswer {
    const headers = { "content-type": "application/json", "x-amzn-errortype": code };
    return { status, headers, body: JSON.stringify({ message }) };
  }

  #call(email: SentEmail, answer: (id: string) => AwsHttpAnswer): AwsHttpCall {
    const run = () => answer(`email-${this.sent.push(email)}`);
    return { ...email, target: "emails", run };
  }
}

function bulkOrOne({ BulkEmailEntries }: SentEmail["input"], id: string): object {
  if (!Array.isArray(BulkEmailEntries)) return { MessageId: id };
  const entryOf = (_: unknown, index: number) => ({ Status: "SUCCESS", MessageId: `${id}-${index + 1}` });
  return { BulkEmailEntryResults: BulkEmailEntries.map(entryOf) };
}
