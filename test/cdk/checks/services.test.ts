// Two stages of one account, whose metrics are under one name.
import { Stack, type StackProps, Stage } from "aws-cdk-lib";
import { Annotations, Match } from "aws-cdk-lib/assertions";
import { Queue } from "aws-cdk-lib/aws-sqs";
import { IdempotencyMonitoring, IdempotencyTable, OutboxRelay } from "onceonly/cdk";
import { describe, expect, it } from "vitest";
import { unitApp } from "../app-given.ts";

const warning = Match.stringLikeRegexp("onceonly:shared-service");
const warningsOf = (stack: Stack) => Annotations.fromStack(stack).findWarning("*", warning);

function stageIn(app: Stage, id: string, props: StackProps = {}, service?: string) {
  const stack = new Stack(new Stage(app, id), "Shop", props);
  const table = new IdempotencyTable(stack, "Records", { outbox: true });
  const names = service === undefined ? {} : { service };
  return {
    stack,
    watch: () => new IdempotencyMonitoring(stack, "Monitoring", { table, ...names }),
    relay: () => {
      const destinations = [new Queue(stack, "Queue")];
      return new OutboxRelay(stack, "Outbox", { table, destinations, ...names });
    },
  };
}

const env = { account: "111111111111", region: "eu-west-1" };

describe("two stages of one app", () => {
  it("are warned that they watch each other, under one service in one account", () => {
    const app = unitApp();
    const [test, production] = [stageIn(app, "Test"), stageIn(app, "Production")];
    test.watch();
    production.watch();

    expect(warningsOf(test.stack)).toEqual([]);
    expect(JSON.stringify(warningsOf(production.stack))).toContain(
      "Test/Shop/Monitoring and Production/Shop/Monitoring share the service",
    );
  });

  it("are warned if only one has alarms, and the other's relay would raise them", () => {
    const app = unitApp();
    const [test, production] = [stageIn(app, "Test", { env }), stageIn(app, "Production", { env })];
    production.watch();
    test.relay();

    expect(warningsOf(test.stack)).toHaveLength(1);
  });

  it.each<[string, StackProps, string | undefined]>([
    ["a service each", { env }, "production"],
    ["an account each", { env: { ...env, account: "222222222222" } }, undefined],
    ["a region each", { env: { ...env, region: "eu-central-1" } }, undefined],
  ])("with %s get no warning", (_, props, service) => {
    const app = unitApp();
    const [test, production] = [stageIn(app, "Test", { env }), stageIn(app, "Production", props, service)];
    for (const stage of [test, production]) {
      stage.watch();
      stage.relay();
    }

    expect([...warningsOf(test.stack), ...warningsOf(production.stack)]).toEqual([]);
  });

  it("without alarms get no warning", () => {
    const app = unitApp();
    const stages = [stageIn(app, "Test"), stageIn(app, "Production")];
    for (const stage of stages) stage.relay();

    expect(stages.flatMap(({ stack }) => warningsOf(stack))).toEqual([]);
  });
});
