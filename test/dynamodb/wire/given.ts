// What the SDK sends and makes of an answer, by which the wire is judged.
import { DynamoDBClient, PutItemCommand, type PutItemCommandInput } from "@aws-sdk/client-dynamodb";

export interface GivenAnswer {
  readonly statusCode: number;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

export async function sdkExchange(input: PutItemCommandInput, answer: GivenAnswer) {
  let sent = "";
  const client = new DynamoDBClient({
    region: "eu-central-1",
    credentials: { accessKeyId: "key", secretAccessKey: "secret" },
    maxAttempts: 1,
    requestHandler: {
      async handle({ body }: { readonly body: Uint8Array }) {
        sent = new TextDecoder().decode(body);
        return { response: answer as never };
      },
    },
  });
  const result: unknown = await client.send(new PutItemCommand(input)).catch((error: unknown) => error);
  return { sent, result };
}
