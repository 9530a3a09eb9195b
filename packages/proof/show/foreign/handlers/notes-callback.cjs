"use strict";

const { DynamoDB } = require("@aws-sdk/client-dynamodb");
const { DynamoDBDocument } = require("@aws-sdk/lib-dynamodb");

const dynamo = DynamoDBDocument.from(new DynamoDB());

module.exports.handler = (event, context, callback) => {
  const { noteId, text } = JSON.parse(event.body);

  dynamo.put({ TableName: process.env.NOTES_TABLE, Item: { noteId, text } }, (error) => {
    if (error) {
      console.error(error);
      callback(null, { statusCode: 503, body: "could not save the note" });
      return;
    }
    callback(null, { statusCode: 200, body: JSON.stringify({ noteId }) });
  });
};
