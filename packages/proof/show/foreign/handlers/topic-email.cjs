const { SESClient, SendEmailCommand } = require("@aws-sdk/client-ses");

const ses = new SESClient({ region: process.env.AWS_REGION });

exports.handler = async (event) => {
  for (const { Sns } of event.Records) {
    const { email, orderId } = JSON.parse(Sns.Message);
    await ses.send(
      new SendEmailCommand({
        Source: "shop@example.com",
        Destination: { ToAddresses: [email] },
        Message: {
          Subject: { Data: `Your order ${orderId}` },
          Body: { Text: { Data: "It is on its way." } },
        },
      }),
    );
  }
};
