"use strict";

const { DynamoDB } = require("@aws-sdk/client-dynamodb");
const { DynamoDBDocument } = require("@aws-sdk/lib-dynamodb");

const dynamo = DynamoDBDocument.from(new DynamoDB());

exports.handler = function (event, context, callback) {
  context.callbackWaitsForEmptyEventLoop = false;
  const entry = JSON.parse(event.body);

  dynamo
    .put({ TableName: process.env.AUDIT_TABLE, Item: entry })
    .then(() => console.log("saved", entry.id))
    .catch((error) => console.error(error));

  callback(null, { statusCode: 202, body: JSON.stringify({ message: "accepted" }) });
};
