// One contestant in a process of its own, which can be killed: `node --import tsx site.ts '{"contestant":0,…}'`.
import { connect } from "../../../../test/kit/tables.ts";
import type { World } from "./contestant.ts";
import { CONTESTANTS } from "./contestants.ts";

export interface SiteOptions extends Omit<World, "makeOrder" | "dynamodb"> {
  readonly contestant: number;
  readonly ordersUrl: string;
  readonly dynamodbUrl: string;
}

const { contestant, ordersUrl, dynamodbUrl, ...world } = JSON.parse(process.argv[2]!) as SiteOptions;

async function makeOrder(body: unknown): Promise<object> {
  const answer = await fetch(ordersUrl, { method: "POST", body: JSON.stringify(body) });
  if (!answer.ok) throw new Error("the card was declined");
  return (await answer.json()) as object;
}

// As a server under a supervisor would: clients of peers may throw outside of any request while their store is away.
process.on("uncaughtException", (error) => console.error(error.message));
process.on("unhandledRejection", (error) => console.error(`${error}`));

const site = await CONTESTANTS[contestant]!.start({ ...world, makeOrder, dynamodb: connect(dynamodbUrl) });
console.log(`listening on ${site.url}`);
