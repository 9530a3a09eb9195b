// What the sample stack watches, and under which name.
import { Match, Template } from "aws-cdk-lib/assertions";
import { describe, expect, it } from "vitest";
import { SampleStack } from "../../../bin/sample-stack.ts";
import { unitApp } from "../app-given.ts";

const SERVICE = "Sample";

const template = Template.fromStack(
  new SampleStack(unitApp(), SERVICE, { ephemeral: false, tokenDigests: {} }),
);

const alarms = Object.values(template.findResources("AWS::CloudWatch::Alarm"));
const alarmsText = JSON.stringify(alarms);

describe("SampleStack", () => {
  it("has every alarm on decisions look at the service whose name its functions get", () => {
    const services = [...alarmsText.matchAll(/"Name":"service","Value":"([^"]+)"/g)].map(([, name]) => name);

    expect(new Set(services)).toEqual(new Set([SERVICE]));
    for (const name of ["CreateOrder", "ChargePayment", "OutboxRelay", "OutboxSweeper"]) {
      const [fn] = Object.entries(template.findResources("AWS::Lambda::Function")).filter(([logicalId]) =>
        new RegExp(`^${name}[0-9A-F]{8}$`).test(logicalId),
      );
      expect(fn?.[1].Properties.Environment.Variables).toMatchObject({ METRICS_SERVICE: SERVICE });
    }
  });

  it("raises alarms for its functions, outbox and dead letters", () => {
    for (const expected of [
      { MetricName: "IteratorAge", Dimensions: [dimension("FunctionName", /^OutboxRelay/)] },
      {
        MetricName: "ApproximateNumberOfMessagesVisible",
        Dimensions: [dimension("QueueName", /^PaymentsQueueDeadLetters/)],
      },
      ...[/^CreateOrder/, /^ChargePayment/, /^OutboxRelay/, /^OutboxSweeper/].map((logicalId) => ({
        MetricName: "Errors",
        Dimensions: [dimension("FunctionName", logicalId)],
      })),
    ]) {
      template.hasResourceProperties("AWS::CloudWatch::Alarm", Match.objectLike(expected));
    }
    expect(alarmsText).not.toMatch(/GetOrder|Authorize/);
  });

  it("shows both operations", () => {
    const [dashboard] = Object.values(template.findResources("AWS::CloudWatch::Dashboard"));

    expect(JSON.stringify(dashboard)).toMatch(/create-order.*charge-payment/s);
  });
});

function dimension(Name: string, logicalId: RegExp) {
  const { source } = logicalId;
  const Value = Match.objectLike({
    ...(Name === "QueueName"
      ? { "Fn::GetAtt": [Match.stringLikeRegexp(source), "QueueName"] }
      : { Ref: Match.stringLikeRegexp(source) }),
  });
  return { Name, Value };
}
