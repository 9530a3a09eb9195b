import { CloudWatchClient, PutMetricDataCommand } from "@aws-sdk/client-cloudwatch";

const cloudWatch = new CloudWatchClient({});

export const handler = async ({ orderId, amount }) => {
  await cloudWatch.send(
    new PutMetricDataCommand({ Namespace: "shop", MetricData: [{ MetricName: "revenue", Value: amount }] }),
  );
  return { orderId };
};
