import {
  GetQueueAttributesCommand,
  ListQueuesCommand,
  SendMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { afterEach, describe, expect, it } from "vitest";
import { inlineFunction, startTemplate } from "./world.ts";

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const arnOf = (name: string) => ({ "Fn::GetAtt": [name, "Arn"] });

function clientOf(endpoint: string): SQSClient {
  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  const client = new SQSClient({ endpoint, region: "us-east-1", credentials });
  cleanups.push(async () => client.destroy());
  return client;
}

describe("AWS::SQS::Queue", () => {
  it("has the attributes of the template and a name that no other run has", async () => {
    const stack = await startTemplate(
      {
        Failed: {
          Type: "AWS::SQS::Queue",
          Properties: { FifoQueue: true, MessageRetentionPeriod: 1_209_600 },
        },
        Payments: {
          Type: "AWS::SQS::Queue",
          Properties: {
            FifoQueue: true,
            DeduplicationScope: "messageGroup",
            FifoThroughputLimit: "perMessageGroupId",
            VisibilityTimeout: "90",
            KmsMasterKeyId: "alias/aws/sqs",
            RedrivePolicy: { deadLetterTargetArn: arnOf("Failed"), maxReceiveCount: 3 },
            Tags: [{ Key: "team", Value: "payments" }],
          },
        },
      },
      cleanups,
    );
    const { url: QueueUrl = "", name, arn } = stack.queues.Payments ?? {};

    const { Attributes } = await clientOf(stack.endpoints.sqs).send(
      new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["All"] }),
    );

    expect(name).toMatch(/^App-Payments-[0-9a-f]{8}\.fifo$/);
    expect(QueueUrl).toBe(`${stack.endpoints.sqs}/000000000000/${name}`);
    expect(Attributes).toMatchObject({
      QueueArn: arn,
      FifoQueue: "true",
      DeduplicationScope: "messageGroup",
      FifoThroughputLimit: "perMessageGroupId",
      VisibilityTimeout: "90",
      KmsMasterKeyId: "alias/aws/sqs",
    });
    expect(JSON.parse(Attributes?.RedrivePolicy ?? "")).toEqual({
      deadLetterTargetArn: stack.queues.Failed?.arn,
      maxReceiveCount: 3,
    });
    expect(stack.notRun).toEqual([]);
  });

  it("gives its URL, name and ARN to resources that refer to it, and its endpoint to functions", async () => {
    const stack = await startTemplate(
      {
        Jobs: { Type: "AWS::SQS::Queue", Properties: { QueueName: "jobs", FifoQueue: false } },
        Policy: {
          Type: "AWS::SQS::QueuePolicy",
          Properties: { Queues: [{ Ref: "Jobs" }], PolicyDocument: {} },
        },
        Show: inlineFunction("return { url: process.env.JOBS, endpoint: process.env.AWS_ENDPOINT_URL_SQS }", {
          Environment: { Variables: { JOBS: { Ref: "Jobs" } } },
        }),
      },
      cleanups,
      {
        outputs: {
          Arn: arnOf("Jobs"),
          Name: { "Fn::GetAtt": ["Jobs", "QueueName"] },
          Url: { "Fn::GetAtt": ["Jobs", "QueueUrl"] },
          OnAws: { "Fn::Sub": "https://sqs.${AWS::Region}.${AWS::URLSuffix}/${AWS::AccountId}/jobs" },
          Foreign: "https://sqs.us-east-1.amazonaws.com/111122223333/jobs",
        },
      },
    );
    const { sqs } = stack.endpoints;

    const result = await stack.functions.Show?.host.invoke("{}");

    expect(stack.outputs).toEqual({
      Arn: "arn:aws:sqs:us-east-1:000000000000:jobs",
      Name: "jobs",
      Url: `${sqs}/000000000000/jobs`,
      OnAws: `${sqs}/000000000000/jobs`,
      Foreign: "https://sqs.us-east-1.amazonaws.com/111122223333/jobs",
    });
    expect(JSON.parse(String(result?.outcome === "ok" && result.payload))).toEqual({
      url: `${sqs}/000000000000/jobs`,
      endpoint: sqs,
    });
    expect(stack.notRun).toEqual([]);
  });

  it("is refused as SQS refuses it, with its construct path", async () => {
    const RedrivePolicy = { deadLetterTargetArn: arnOf("Failed"), maxReceiveCount: 3 };
    const starting = startTemplate(
      {
        Failed: { Type: "AWS::SQS::Queue" },
        Payments: { Type: "AWS::SQS::Queue", Properties: { FifoQueue: true, RedrivePolicy } },
      },
      cleanups,
    );

    await expect(starting).rejects.toThrow(/^queue Payments \(Payments\) was rejected: .*RedrivePolicy/);
  });

  it("goes when the run stops", async () => {
    const stack = await startTemplate({ Jobs: { Type: "AWS::SQS::Queue" } }, cleanups);
    const client = clientOf(stack.endpoints.sqs);
    const QueueUrl = stack.queues.Jobs?.url;
    await client.send(new SendMessageCommand({ QueueUrl, MessageBody: "a" }));

    await stack.stop();

    await expect(client.send(new ListQueuesCommand())).rejects.toThrow(/ECONNREFUSED/);
  });
});
