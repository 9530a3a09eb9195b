// Lambda's side of durable executions, in memory, behind the SDK's own client interface: it starts executions by name, keeps their
// checkpoints, calls the handler, and kills an invocation at any point. Waits take no time, but each is a new invocation.
import type {
  CheckpointDurableExecutionRequest,
  CheckpointDurableExecutionResponse,
  DurableExecutionClient,
  DurableExecutionConfig,
  DurableExecutionHandler,
  GetDurableExecutionStateResponse,
  WireOperation,
} from "@aws/durable-execution-sdk-js";
import {
  DurableExecutionInvocationInputWithClient,
  withDurableExecution,
} from "@aws/durable-execution-sdk-js";
import type { FakeClock } from "../../lib/testing/index.ts";
import { fakeLambdaContext } from "../../lib/testing/index.ts";
import {
  type DurableExecution,
  DurableExecutions,
  type DurableInvocationOutput,
  DurableServiceError,
} from "../../packages/explorer/lib/aws/durable/durable-executions.ts";

/** How an invocation ended. */
type End = "PENDING" | "SUCCEEDED" | "FAILED" | "error" | "crash";

const MAX_INVOCATIONS = 60;
const FUNCTION_ARN = "arn:aws:lambda:eu-central-1:111122223333:function:fulfil:1";

export class DurableService implements DurableExecutionClient {
  readonly clock: FakeClock;
  readonly #service = new DurableExecutions(Date.now, FUNCTION_ARN);
  readonly executions = this.#service.executions;
  /** The points at which an invocation could be killed, in order: each checkpoint and each effect or request that calls `reach`. */
  readonly points: string[] = [];
  /** The numbers of the points at which the invocation is killed. */
  readonly kills: Set<number>;
  /** How long an invocation may run. */
  invocationMs = 900_000;
  /** A wait lasts until the test lets it end. */
  holdsWaits = false;
  #kill: (() => void) | undefined;

  constructor(clock: FakeClock, kills: Iterable<number> = []) {
    this.clock = clock;
    this.kills = new Set(kills);
  }

  /** A durable function, as it's deployed. */
  deploy<Event, Result>(
    handler: DurableExecutionHandler<Event, Result>,
    config: DurableExecutionConfig = {},
  ) {
    return withDurableExecution(handler, { ...config, durableExecutionClient: this });
  }

  /** Starts an execution, or returns the one of that name: Lambda refuses the name with another payload. */
  start(payload: unknown, name?: string): DurableExecution {
    return this.#service.start(payload, name);
  }

  /** Calls the handler until the execution ends, or is suspended while `holdsWaits`. */
  async run(
    handler: ReturnType<typeof withDurableExecution>,
    execution: DurableExecution,
  ): Promise<DurableExecution> {
    while (execution.status === "RUNNING") {
      if (execution.invocations >= MAX_INVOCATIONS) throw new Error("the execution never ends");
      const end = await this.invoke(handler, execution);
      if (end === "PENDING") {
        if (this.holdsWaits) return execution;
        await this.endWaits(execution);
      }
    }
    return execution;
  }

  /** One invocation. */
  async invoke(handler: ReturnType<typeof withDurableExecution>, execution: DurableExecution): Promise<End> {
    const input = this.#service.invocationOf(execution);
    // A handler that makes its own client, such as in Middy's durable mode, gets this one with its event.
    const event = new DurableExecutionInvocationInputWithClient(input as never, this);
    const context = fakeLambdaContext({ clock: this.clock, remainingMs: this.invocationMs });
    const killed = new Promise<"crash">((resolve) => {
      this.#kill = () => resolve("crash");
    });
    const invoked = handler(event as never, context as never).then(
      (output) => {
        this.#service.end(execution, output as DurableInvocationOutput);
        return output.Status as End;
      },
      () => "error" as const,
    );
    return Promise.race([invoked, killed]);
  }

  /** The waits and the pauses before retries are over, callbacks are answered with `null`, and time has passed. */
  async endWaits(execution: DurableExecution): Promise<void> {
    this.#service.answerCallbacks(execution);
    const startedAt = Date.now();
    const over = this.#service.endWaits(execution, Number.POSITIVE_INFINITY);
    const ends = over.map(({ WaitDetails, StepDetails }) =>
      (WaitDetails?.ScheduledEndTimestamp ?? StepDetails?.NextAttemptTimestamp)?.getTime(),
    );
    await this.clock.advance(Math.max(0, ...ends.map((end) => (end ?? 0) - startedAt)));
  }

  /** A point at which the process can die. Never returns if it does. */
  async reach(point: string): Promise<void> {
    this.points.push(point);
    if (!this.kills.has(this.points.length - 1)) return;
    this.#kill?.();
    await new Promise<never>(() => {});
  }

  async checkpoint(request: CheckpointDurableExecutionRequest): Promise<CheckpointDurableExecutionResponse> {
    const { Updates = [] } = request;
    const what = Updates.map(({ Action, Type, Name }) => `${Action} ${Type} ${Name}`).join(", ");
    await this.reach(`before checkpoint ${what}`);
    const changed = this.#checkpoint(request);
    await this.reach(`after checkpoint ${what}`);
    return { CheckpointToken: request.CheckpointToken, NewExecutionState: { Operations: changed } };
  }

  #checkpoint(request: CheckpointDurableExecutionRequest): WireOperation[] {
    try {
      return this.#service.checkpoint(request) as WireOperation[];
    } catch (error) {
      if (!(error instanceof DurableServiceError)) throw error;
      throw Object.assign(error, { $metadata: { httpStatusCode: 400 } });
    }
  }

  async getExecutionState(): Promise<GetDurableExecutionStateResponse> {
    return { Operations: [] };
  }

  /** The `Lambda` client's view. */
  readonly lambda = {
    asked: 0,
    getDurableExecution: async ({ DurableExecutionArn }: { readonly DurableExecutionArn: string }) => {
      this.lambda.asked++;
      const { status: Status, result: Result } = this.#service.get(DurableExecutionArn);
      return { Status, Result };
    },
  };
}
