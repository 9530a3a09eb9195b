// Three effects, of which the wrapper can protect two: the mail in the middle has no key.
import { idempotent } from "onceonly";
import { DynamoDBStore, type DynamoDBWrite } from "onceonly/dynamodb";

interface Signup {
  readonly userId: string;
}

const options = {
  operation: "sign-up",
  store: new DynamoDBStore({ tableName: process.env.IDEMPOTENCY_TABLE }),
  key: (event: Signup) => event.userId,
};

async function post(url: string, body: object, key?: string) {
  const answer = await fetch(url, {
    method: "POST",
    headers: { ...(key !== undefined && { "idempotency-key": key }) },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
}

function signUp(mailKey: (childKey: (name: string) => string) => string | undefined) {
  return idempotent<unknown, Signup, DynamoDBWrite>(async ({ userId }, { idempotency }) => {
    const childKey = (name: string) => idempotency.childKey(name);
    await post(`${process.env.GATEWAY_URL}/customers`, { userId }, childKey("customer"));
    await post("https://mail.example.com/send", { to: userId }, mailKey(childKey));
    return idempotency.commit(
      { userId },
      { writes: [{ Put: { TableName: process.env.ORDERS_TABLE, Item: { tenant: "acme", id: userId } } }] },
    );
  }, options);
}

export const handler = signUp(() => undefined);

export const mended = signUp((childKey) => childKey("mail"));
