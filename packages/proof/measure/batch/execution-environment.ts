// A function's execution environment with its own client, which can die in the middle of an invocation. A
// dead environment sends and receives nothing, and its invocation never ends.
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { LeanDynamoDB } from "onceonly/lean";
import { connectionReset } from "../../../../test/kit/faults/connection-reset.ts";
import { connect } from "../../../../test/kit/tables.ts";
import type { Meter } from "../metering/meter.ts";
import { orderIdsIn } from "./effects.ts";
import type { FaultPlan } from "./faults.ts";
import { leanClient } from "./lean-client.ts";
import type { SkippableTime } from "./skippable-time.ts";

export interface EnvironmentSetup {
  readonly endpoint: string;
  readonly meter: Meter;
  readonly time: SkippableTime;
  readonly effectsTable: string;
  readonly faultOf: FaultPlan;
  readonly onLostAnswer: () => void;
}

export class ExecutionEnvironment {
  readonly client: DynamoDBClient;
  readonly lean: LeanDynamoDB;
  readonly died: Promise<"died">;
  #isDead = false;
  #die = () => {};

  constructor({ endpoint, meter, time, effectsTable, faultOf, onLostAnswer }: EnvironmentSetup) {
    this.died = new Promise((resolve) => {
      this.#die = () => {
        this.#isDead = true;
        resolve("died");
      };
    });
    const underFaults = async <Answer>(input: object, next: () => Promise<Answer>): Promise<Answer> => {
      if (this.#isDead) return never();
      const fault = faultOf({ orderIds: orderIdsIn(input, effectsTable) });
      if (fault === "die-before") this.#die();
      if (this.#isDead) return never();
      const [outcome] = await Promise.allSettled([next()]);
      if (fault === "die-after") this.#die();
      if (this.#isDead) return never();
      if (fault === "lose-answer") {
        onLostAnswer();
        throw connectionReset();
      }
      if (outcome.status === "rejected") throw outcome.reason;
      return outcome.value;
    };
    this.lean = leanClient(endpoint, meter, time, underFaults);
    this.client = connect(endpoint);
    meter.attach(this.client);
    time.attach(this.client);
    this.client.middlewareStack.add((next) => (args) => underFaults(args.input, () => next(args)), {
      step: "finalizeRequest",
      priority: "low",
      name: "faults",
    });
  }
}

function never(): Promise<never> {
  return new Promise(() => {});
}
