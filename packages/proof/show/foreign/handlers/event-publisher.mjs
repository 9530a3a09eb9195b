import { EventBridgeClient, PutEventsCommand } from "@aws-sdk/client-eventbridge";

const client = new EventBridgeClient({});

export const handler = async (event) => {
  const { orderId, lines } = event.detail;
  const result = await client.send(
    new PutEventsCommand({
      Entries: [
        {
          EventBusName: process.env.EVENT_BUS,
          Source: "warehouse",
          DetailType: "StockReserved",
          Detail: JSON.stringify({ orderId, lines }),
        },
      ],
    }),
  );
  console.log("published", result.Entries);
  return { published: lines.length };
};
