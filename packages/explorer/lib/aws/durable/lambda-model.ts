/** The operations of Lambda with which the durable SDK reads and writes an execution, in memory. */
import {
  type AwsHttpAnswer,
  type AwsHttpCall,
  AwsHttpError,
  type AwsHttpRequest,
  type AwsHttpService,
} from "../http-services/http-service.ts";
import { type CheckpointInput, type DurableExecutions, DurableServiceError } from "./durable-executions.ts";

const PATH = /^\/2025-12-01\/durable-executions\/([^/]+)(?:\/(checkpoint|state))?$/;

type Parameters = Readonly<Record<string, unknown>>;

export class LambdaModel implements AwsHttpService {
  readonly throttling = { code: "TooManyRequestsException", status: 429 };
  readonly #executions: DurableExecutions;

  constructor(executions: DurableExecutions) {
    this.#executions = executions;
  }

  read({ url, method, body }: AwsHttpRequest): AwsHttpCall | undefined {
    const [, encoded, part] = PATH.exec(url.pathname) ?? [];
    if (encoded === undefined) return undefined;
    const DurableExecutionArn = decodeURIComponent(encoded);
    if (part === "checkpoint" && method === "POST") {
      const sent = JSON.parse(new TextDecoder().decode(body)) as Parameters;
      return this.#call("CheckpointDurableExecution", { ...sent, DurableExecutionArn }, (input) => ({
        CheckpointToken: input.CheckpointToken,
        NewExecutionState: { Operations: this.#executions.checkpoint(input) },
      }));
    }
    if (method !== "GET") return undefined;
    if (part === "state") {
      return this.#call("GetDurableExecutionState", { DurableExecutionArn }, () => ({
        Operations: [...this.#executions.get(DurableExecutionArn).operations.values()],
      }));
    }
    return this.#call("GetDurableExecution", { DurableExecutionArn }, () => {
      const { name, status, result } = this.#executions.get(DurableExecutionArn);
      return { DurableExecutionArn, DurableExecutionName: name, Status: status, Result: result };
    });
  }

  refusal(code: string, status: number, message: string): AwsHttpAnswer {
    const headers = { "content-type": "application/json", "x-amzn-errortype": code };
    return { status, headers, body: JSON.stringify({ message }) };
  }

  #call(operation: string, input: Parameters, work: (input: Parameters) => object): AwsHttpCall {
    const run = () => {
      try {
        return { status: 200, headers: { "content-type": "application/json" }, body: encoded(work(input)) };
      } catch (error) {
        if (!(error instanceof DurableServiceError)) throw error;
        const status = error.name === "ResourceNotFoundException" ? 404 : 400;
        throw new AwsHttpError(error.name, status, error.message);
      }
    };
    return { operation, target: targetIn(input), input, run };
  }
}

/** The names of the operations in a checkpoint, for reports. */
function targetIn({ Updates = [] }: CheckpointInput): string {
  return (
    Updates.map(({ Action, Type, Name }) => [Action, Type, Name].join(" ").trim()).join("+") || "execution"
  );
}

/** The protocol has times as seconds. */
function encoded(answer: object): string {
  return JSON.stringify(answer, function (this: Record<string, unknown>, name, value: unknown) {
    const given = this[name];
    return given instanceof Date ? given.getTime() / 1000 : value;
  });
}
