/**
 * The client that the store makes itself: a client of the SDK with our code for the three parts that take most of its
 * processor time, which encode the input, sign the request and read the response. Our code handles the usual case only,
 * and hands everything else to the part of the SDK that it replaces. `send`, the retries, the providers, the request handler
 * and all other middleware stay the SDK's, so tracers and mocks see every request as usual.
 */
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { replaceProtocol } from "./own-protocol.ts";
import { makeSigner } from "./own-signer.ts";

export function makeClient(): DynamoDBClient {
  const client: DynamoDBClient = new DynamoDBClient({
    // Without the last one the SDK only warns about a request that takes too long.
    requestHandler: { connectionTimeout: 1000, requestTimeout: 3000, throwOnRequestTimeout: true },
    // A command has the same middleware each time.
    cacheMiddleware: true,
    signer: makeSigner(() => client) as never,
  });
  replaceProtocol(client);
  return client;
}
