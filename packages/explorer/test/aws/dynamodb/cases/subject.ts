/** Something that answers DynamoDB's operations, asked in every case through the AWS SDK's client. */
import * as sdk from "@aws-sdk/client-dynamodb";
import { type FakeClock, fakeClock } from "../../../../../../lib/testing/fake-clock.ts";
import { DynamoDBModel } from "../../../../lib/aws/dynamodb/dynamodb-model.ts";
import type { DynamoDBOperationName, DynamoDBOperations } from "../../../../lib/aws/dynamodb/operations.ts";
import { overHttp, overModel, type SendJson, streamsCall } from "./streams-call.ts";

export interface DynamoDBSubject {
  call<Name extends DynamoDBOperationName>(
    operation: Name,
    input: DynamoDBOperations[Name]["input"],
  ): Promise<DynamoDBOperations[Name]["output"]>;
  /** Passes time; not every subject can. */
  readonly clock?: FakeClock | undefined;
  readonly model?: DynamoDBModel | undefined;
}

type AnyClient = { send(command: unknown): Promise<object> };

const ACCESS = {
  region: "us-east-1",
  credentials: { accessKeyId: "local", secretAccessKey: "local" },
  maxAttempts: 1,
};
const STREAMS = ["DescribeStream", "GetRecords", "GetShardIterator", "ListStreams"];

export function modelSubject(): DynamoDBSubject {
  const clock = fakeClock();
  const model = new DynamoDBModel({ clock });
  const client = new sdk.DynamoDBClient({ ...model.clientConfig(), maxAttempts: 1 });
  return subjectOf(client, overModel(model.requestHandler()), { clock, model });
}

export function engineSubject(endpoint: string): DynamoDBSubject {
  return subjectOf(new sdk.DynamoDBClient({ ...ACCESS, endpoint }), overHttp(endpoint), {});
}

function subjectOf(
  client: sdk.DynamoDBClient,
  sendJson: SendJson,
  more: Pick<DynamoDBSubject, "clock" | "model">,
): DynamoDBSubject {
  return {
    ...more,
    async call(operation, input) {
      if (STREAMS.includes(operation)) return (await streamsCall(sendJson, operation, input)) as never;
      const { $metadata: _, ...output } = (await (client as unknown as AnyClient).send(
        commandOf(operation, input),
      )) as { readonly $metadata: unknown };
      return defined(output) as never;
    },
  };
}

function commandOf(operation: string, input: object): unknown {
  const Command = (sdk as unknown as Record<string, new (input: object) => unknown>)[`${operation}Command`];
  if (Command === undefined) throw new Error(`the AWS SDK has no command ${operation}`);
  return new Command(input);
}

/** What it does not have, the SDK leaves out or has as undefined. */
function defined(output: object): object {
  return Object.fromEntries(Object.entries(output).filter(([, value]) => value !== undefined));
}
