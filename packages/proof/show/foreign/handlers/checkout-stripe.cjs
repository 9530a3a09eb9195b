const { DynamoDBClient } = require("@aws-sdk/client-dynamodb");
const { DynamoDBDocumentClient, UpdateCommand } = require("@aws-sdk/lib-dynamodb");
const stripe = require("stripe")(process.env.STRIPE_SECRET_KEY);

const ddb = DynamoDBDocumentClient.from(new DynamoDBClient());

module.exports.handler = async (event) => {
  const { orderId, amount, token } = JSON.parse(event.body);
  try {
    const charge = await stripe.charges.create({ amount, currency: "eur", source: token });
    await ddb.send(
      new UpdateCommand({
        TableName: process.env.ORDERS_TABLE,
        Key: { orderId },
        UpdateExpression: "SET #status = :paid, chargeId = :chargeId",
        ExpressionAttributeNames: { "#status": "status" },
        ExpressionAttributeValues: { ":paid": "PAID", ":chargeId": charge.id },
      }),
    );
    return { statusCode: 200, body: JSON.stringify({ chargeId: charge.id }) };
  } catch (err) {
    console.error(err);
    return { statusCode: 500, body: JSON.stringify({ error: err.message }) };
  }
};
