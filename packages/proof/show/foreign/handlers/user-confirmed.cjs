const { DynamoDBClient, PutItemCommand } = require("@aws-sdk/client-dynamodb");

const client = new DynamoDBClient({});

exports.handler = async (event, context) => {
  const { sub, email } = event.request.userAttributes;
  if (event.triggerSource !== "PostConfirmation_ConfirmSignUp") return event;
  await client.send(
    new PutItemCommand({
      TableName: process.env.PROFILES_TABLE,
      Item: { sub: { S: sub }, email: { S: email }, plan: { S: "free" } },
    }),
  );
  console.log("profile created in", context.functionName);
  return event;
};
