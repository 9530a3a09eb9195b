/**
 * The client that the store makes itself: an SDK client with our own code for the three parts that use most of its CPU time:
 * encoding the input, signing the request and reading the response. Our code handles only the usual case, and passes everything
 * else to the SDK part it replaces. `send`, the retries, the providers, the request handler and all other middleware remain the
 * SDK's, so tracers and mocks see every request as usual.
 */
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { replaceProtocol } from "./own-protocol.ts";
import { makeSigner } from "./own-signer.ts";

export function makeClient(): DynamoDBClient {
  const client: DynamoDBClient = new DynamoDBClient({
    // Without `throwOnRequestTimeout` the SDK only warns about a slow request.
    requestHandler: { connectionTimeout: 1000, requestTimeout: 3000, throwOnRequestTimeout: true },
    // A command always has the same middleware.
    cacheMiddleware: true,
    signer: makeSigner(() => client) as never,
  });
  replaceProtocol(client);
  return client;
}
