// The limit for all clients: signed requests on kept-alive connections, and nothing else.
import { Agent as HttpAgent, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { signedHeaders } from "../../../../lib/dynamodb/wire/signature.ts";
import { textOf } from "../canned/record-answers.ts";
import { type CallOnce, callOnceBy, type Item } from "./least.ts";

export function limit(tableName: string): CallOnce {
  const { AWS_ENDPOINT_URL_DYNAMODB, AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } = process.env;
  const { protocol, hostname, port, host } = new URL(String(AWS_ENDPOINT_URL_DYNAMODB));
  const [request, Agent] = protocol === "https:" ? [httpsRequest, HttpsAgent] : [httpRequest, HttpAgent];
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const credentials = { accessKeyId: `${AWS_ACCESS_KEY_ID}`, secretAccessKey: `${AWS_SECRET_ACCESS_KEY}` };
  const post = (operation: string, input: object) =>
    new Promise<Record<string, unknown>>((resolve, reject) => {
      const body = JSON.stringify(input);
      const unsigned = {
        host,
        path: "/",
        region: `${AWS_REGION}`,
        target: `DynamoDB_20120810.${operation}`,
        body,
      };
      const headers = {
        ...signedHeaders(unsigned, credentials, Date.now()),
        "content-length": Buffer.byteLength(body),
      };
      const sent = request({ hostname, port, method: "POST", path: "/", headers, agent }, (response) => {
        textOf(response).then((text) => resolve(JSON.parse(text)), reject);
      });
      sent.on("error", reject).end(body);
    });
  return callOnceBy(tableName, {
    put: async (input) => ({ refusedBy: (await post("PutItem", input)).Item as Item }),
    update: (input) => post("UpdateItem", input),
  });
}
