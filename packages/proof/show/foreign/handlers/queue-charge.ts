import type { SQSEvent } from "aws-lambda";

interface Charge {
  orderId: string;
  amount: number;
}

async function charge({ orderId, amount }: Charge): Promise<void> {
  const response = await fetch("https://payments.example/charges", {
    method: "POST",
    headers: { authorization: `Bearer ${process.env.PAYMENTS_TOKEN}`, "content-type": "application/json" },
    body: JSON.stringify({ reference: orderId, amount }),
  });
  if (!response.ok) throw new Error(`${response.status} from the payment provider`);
}

export const handler = async (event: SQSEvent): Promise<void> => {
  for (const record of event.Records) {
    const message = JSON.parse(record.body) as Charge;
    console.log("charging", message.orderId);
    await charge(message);
  }
};
