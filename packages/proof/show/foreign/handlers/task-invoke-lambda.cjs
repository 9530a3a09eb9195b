const { InvokeCommand, LambdaClient } = require("@aws-sdk/client-lambda");

const lambda = new LambdaClient({});

exports.handler = async (order) => {
  await lambda.send(
    new InvokeCommand({
      FunctionName: process.env.INVOICE_FUNCTION,
      InvocationType: "Event",
      Payload: JSON.stringify(order),
    }),
  );
  return { orderId: order.orderId };
};
