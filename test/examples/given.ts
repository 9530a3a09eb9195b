// What the tests of the examples share: a request as AWS delivers it, and a scenario that is disturbed at each request.
import type { APIGatewayProxyEventV2WithJWTAuthorizer } from "aws-lambda";
import { canHave, type Fault, Simulator } from "onceonly-explorer";

/** A request to an HTTP API whose JWT authorizer has verified the caller. */
export function post(
  path: string,
  body: object,
  { key = "key-1", caller = "ann" } = {},
): APIGatewayProxyEventV2WithJWTAuthorizer {
  return {
    version: "2.0",
    rawPath: path,
    rawQueryString: "",
    headers: { "idempotency-key": key },
    requestContext: {
      http: { method: "POST", path },
      authorizer: { jwt: { claims: { sub: caller } } },
    },
    body: JSON.stringify(body),
    isBase64Encoded: false,
  } as never;
}

const FAULTS: readonly Fault[] = [
  { kind: "crash", when: "before" },
  { kind: "crash", when: "after" },
  { kind: "lost-answer" },
];

/**
 * Plays a scenario undisturbed, then with each fault at each request that its functions make. Resolves to the number of
 * requests, and `play` asserts what must be true in the end.
 */
export async function underEachFault(play: (aws: Simulator) => Promise<void>): Promise<number> {
  let requests = 0;
  const undisturbed = new Simulator();
  undisturbed.faults = () => {
    requests++;
    return undefined;
  };
  await play(undisturbed);
  for (let at = 1; at <= requests; at++) {
    for (const fault of FAULTS) {
      const aws = new Simulator();
      aws.faults = (io) => (io.number === at && canHave(io, fault.kind) ? fault : undefined);
      await play(aws);
    }
  }
  return requests;
}

/** All items of a simulated table, with DynamoDB's numbers as numbers. */
export async function itemsIn(aws: Simulator, table: string): Promise<Record<string, unknown>[]> {
  const { Items = [] } = (await aws.dynamodb.call("Scan", { TableName: table })) as {
    Items?: Record<string, { S?: string; N?: string }>[];
  };
  return Items.map((item) =>
    Object.fromEntries(Object.entries(item).map(([name, { S, N }]) => [name, S ?? Number(N)])),
  );
}
