/** Requests to DynamoDB as exchanges: with the model's inputs and outputs, or as HTTP for the AWS SDK. */
import {
  DynamoDBError,
  type DynamoDBErrorName,
  transactionCanceled,
} from "../aws/dynamodb/dynamodb-error.ts";
import { jsonAnswer, jsonError, readJsonRequest } from "../aws/dynamodb/json-protocol.ts";
import type { Exchange } from "./exchange.ts";
import type { SdkHttpRequest, SdkHttpResponse } from "./scene.ts";
import { attemptOf, bodyText, brokenConnection, headerOf } from "./sdk-request.ts";

type CommandInput = Readonly<Record<string, unknown>>;

export interface DynamoDBRequest {
  readonly operation: string;
  readonly input: CommandInput;
  readonly attempt: number | undefined;
  run(): Promise<unknown>;
  runStale(): Promise<unknown>;
}

/** Resolves to the model's outputs, and rejects with the model's DynamoDBErrors. */
export function dynamodbExchange(request: DynamoDBRequest): Exchange<unknown> {
  const { operation, input, attempt } = request;
  return {
    io: { service: "dynamodb", operation, target: tablesIn(input), input, attempt },
    run: () => request.run(),
    runStale: () => request.runStale(),
    broken: brokenConnection,
    throttled: async () => {
      throw new DynamoDBError("ThrottlingException", "Rate of requests exceeds the allowed throughput");
    },
    refused: async ({ code, status = 400 }) => {
      throw Object.assign(new DynamoDBError(code as DynamoDBErrorName, "rejected by a fault"), {
        statusCode: status,
      });
    },
    conflicted: async () => {
      throw conflictOf(input);
    },
    describe: () => "ok",
  };
}

/** The same for the AWS SDK: answers and refusals are HTTP responses. */
export function dynamodbSdkExchange(
  request: SdkHttpRequest,
  exchangeOf: (request: Pick<DynamoDBRequest, "operation" | "input" | "attempt">) => Exchange<unknown>,
  envelope: () => { readonly date: string; readonly "x-amzn-requestid": string },
): Exchange<SdkHttpResponse> {
  const { operation, input } = readJsonRequest(headerOf(request, "x-amz-target"), bodyText(request));
  const exchange = exchangeOf({ operation, input: input as CommandInput, attempt: attemptOf(request) });
  const described = new WeakMap<SdkHttpResponse, string>();
  const asHttp = async (work: Promise<unknown>): Promise<SdkHttpResponse> => {
    let answer: { readonly statusCode: number; readonly body: string };
    let text = "ok";
    try {
      answer = jsonAnswer(await work);
    } catch (error) {
      if (!(error instanceof DynamoDBError)) throw error;
      answer = jsonError(error);
      text = textOf(error);
    }
    const response: SdkHttpResponse = {
      statusCode: answer.statusCode,
      headers: { "content-type": "application/x-amz-json-1.0", ...envelope() },
      body: new TextEncoder().encode(answer.body),
    };
    described.set(response, text);
    return response;
  };
  return {
    io: exchange.io,
    broken: exchange.broken,
    run: () => asHttp(exchange.run()),
    runStale: () => asHttp(exchange.runStale!()),
    throttled: () => asHttp(exchange.throttled()),
    refused: (refusal) => asHttp(exchange.refused(refusal)),
    conflicted: () => asHttp(exchange.conflicted!()),
    describe: (response) => described.get(response) ?? "ok",
  };
}

/** A canceled transaction as its reasons, in the order of its actions; an invalid request as its message. */
function textOf({ name, message, details }: DynamoDBError): string {
  if (name === "ValidationException") return `${name}: ${message}`;
  const reasons = details.CancellationReasons?.map(({ Code, Message }) =>
    Code === "ValidationError" ? `${Code}: ${Message}` : Code,
  );
  return reasons ? `${name} [${reasons.join(", ")}]` : name;
}

function tablesIn(input: CommandInput): string {
  const names = new Set<string>();
  if (typeof input.TableName === "string") names.add(input.TableName);
  for (const name of Object.keys(Object(input.RequestItems))) names.add(name);
  for (const action of transactItemsIn(input)) {
    for (const { TableName } of Object.values(action)) names.add(TableName);
  }
  return [...names].join("+");
}

function transactItemsIn({
  TransactItems,
}: CommandInput): readonly Record<string, { readonly TableName: string }>[] {
  return Array.isArray(TransactItems) ? TransactItems : [];
}

/** In a transaction the first action gets the conflict. */
function conflictOf(input: CommandInput): DynamoDBError {
  const message = "Transaction is ongoing for the item";
  const actions = transactItemsIn(input);
  if (actions.length === 0) return new DynamoDBError("TransactionConflictException", message);
  return transactionCanceled(
    actions.map((_, index) =>
      index === 0 ? { Code: "TransactionConflict", Message: message } : { Code: "None" },
    ),
  );
}
