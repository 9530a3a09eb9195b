/**
 * A function and its execution environments: chooses an environment for each event, and reports the outcome.
 */
import { fakeLambdaContext } from "onceonly/testing";
import { callHandler } from "./call-handler.ts";
import { Host } from "./host.ts";
import { HostScene } from "./host-scene.ts";
import type { Invocation, InvocationOutcome } from "./invocation.ts";
import { within } from "./scene.ts";
import type { InvokeOptions, LambdaHandler, SimulatedFunction } from "./simulated-function.ts";
import type { LambdaOptions } from "./simulator-options.ts";
import type { Stage } from "./stage.ts";

interface SimulatedEnvironment {
  readonly host: Host;
  readonly handler: LambdaHandler;
}

/** https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-error-handling.html */
const RETRY_AFTER_MS = [60_000, 120_000];

export class FunctionPool implements SimulatedFunction {
  readonly name: string;
  readonly #stage: Stage;
  readonly #options: LambdaOptions;
  readonly #initialize: () => LambdaHandler | Promise<LambdaHandler>;
  #idle: SimulatedEnvironment[] = [];
  #environments = 0;
  #running = 0;
  #waiting: (() => void)[] = [];

  constructor(
    stage: Stage,
    name: string,
    options: LambdaOptions,
    initialize: () => LambdaHandler | Promise<LambdaHandler>,
  ) {
    this.#stage = stage;
    this.name = name;
    this.#options = options;
    this.#initialize = initialize;
  }

  async invoke(event: unknown, { requestId }: InvokeOptions = {}): Promise<Invocation> {
    this.#stage.checkRunning(this.name);
    const done = this.#stage.activities.begin();
    try {
      await this.#turn();
      const number = this.#stage.newInvocation();
      const id = requestId ?? this.#stage.random.token();
      return await this.#invokeIn(this.#takeIdle() ?? this.#newHost(), number, id, payloadOf(event));
    } finally {
      this.#endTurn();
      done();
    }
  }

  async invokeAsync(event: unknown, options: InvokeOptions = {}): Promise<Invocation> {
    const done = this.#stage.activities.begin();
    try {
      const requestId = options.requestId ?? this.#stage.random.token();
      let invocation = await this.invoke(event, { requestId });
      for (const delayMs of RETRY_AFTER_MS) {
        if (invocation.outcome === "returned") break;
        await this.#stage.time.sleep(delayMs);
        invocation = await this.invoke(event, { requestId });
      }
      return invocation;
    } finally {
      done();
    }
  }

  async #turn(): Promise<void> {
    const most = this.#options.concurrency ?? Number.POSITIVE_INFINITY;
    if (this.#running < most) this.#running++;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** The first waiting caller gets the free place, so no other caller slips in between. */
  #endTurn(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#running--;
  }

  /** An environment that a fault holds is not reused. */
  #takeIdle(): SimulatedEnvironment | undefined {
    this.#idle = this.#idle.filter(({ host }) => host.state !== "dead");
    const index = this.#idle.findIndex(({ host }) => !host.isHeldByFault);
    return index < 0 ? undefined : this.#idle.splice(index, 1)[0];
  }

  #newHost(): Host {
    const { skewsMs = [], skewMs = 0 } = this.#options;
    const index = this.#environments++;
    const id = `${this.name}#${index + 1}`;
    return this.#stage.newHost(id, skewsMs[index % skewsMs.length] ?? skewMs);
  }

  #invokeIn(
    place: SimulatedEnvironment | Host,
    number: number,
    requestId: string,
    payload: string,
  ): Promise<Invocation> {
    const host = place instanceof Host ? place : place.host;
    const { time, trace } = this.#stage;
    const timeoutMs = (this.#options.timeoutSeconds ?? 30) * 1000;
    return new Promise((resolve) => {
      let isReported = false;
      const note = (text: string) =>
        trace.note({ kind: "invocation", hostId: host.id, invocation: number, text });
      const finish = (outcome: InvocationOutcome) => {
        if (isReported) return;
        isReported = true;
        note(textOf(outcome));
        resolve({ number, hostId: host.id, requestId, ...outcome });
      };
      const stopListening = host.onDeath(() => finish({ outcome: "crashed" }));
      const cancelDeadline = time.after(timeoutMs, () => {
        finish({ outcome: "timed-out" });
        if (!host.isHeldByFault) host.die("ended at its deadline");
      });
      const scene = new HostScene({
        host,
        invocation: number,
        ...this.#stage,
        onFailure: (error) => {
          finish({ outcome: "threw", error });
          host.die("ended by an unhandled rejection");
        },
      });
      const context = fakeLambdaContext({
        clock: time,
        remainingMs: timeoutMs,
        awsRequestId: requestId,
        functionName: this.name,
      });
      const end = (outcome: InvocationOutcome, environment?: SimulatedEnvironment) => {
        cancelDeadline();
        stopListening();
        // After its caller's timeout the environment is a zombie: it gets no more events.
        if (isReported) return host.die("ended after its invocation");
        finish(outcome);
        if (!environment) return host.die("couldn't be initialized");
        host.rest();
        this.#idle.push(environment);
      };
      // A separate turn lets an unhandled error come before the answer, and end the environment.
      const endSoon = (...parameters: Parameters<typeof end>) => {
        time.after(0, () => host.deliver(() => end(...parameters)));
      };
      note("starts");
      host.wake();
      void within(scene, async () => {
        let environment: SimulatedEnvironment | undefined;
        try {
          environment = place instanceof Host ? { host, handler: await this.#initialize() } : place;
          const { handler } = environment;
          const value = await callHandler(handler, JSON.parse(payload), context, () => scene.untilEmpty());
          endSoon({ outcome: "returned", value: throughJson(value) }, environment);
        } catch (error) {
          endSoon({ outcome: "threw", error }, environment);
        }
      });
    });
  }
}

/** An invocation without an event gets an empty one. */
function payloadOf(event: unknown): string {
  return JSON.stringify(event) ?? "{}";
}

function throughJson(value: unknown): unknown {
  return value === undefined ? null : JSON.parse(JSON.stringify(value) ?? "null");
}

function textOf(outcome: InvocationOutcome): string {
  if (outcome.outcome !== "threw") return outcome.outcome;
  const { name, message } = Object(outcome.error) as Partial<Error>;
  return `threw ${name ?? "something"}: ${message ?? String(outcome.error)}`;
}
