// The section of docs/proof/benchmarks.md about requests and capacity, and what they cost. Pure.
import { type CountedPath, capacityTable, costTable } from "./capacity-table.ts";
import { PRICES } from "./prices.ts";

export function capacitySection(paths: readonly CountedPath[]): string {
  const { region, since, source, perMillionWriteUnits, perMillionReadUnits } = PRICES;
  return `## Requests and capacity

Exact counts: they are the same in every run. A dash is a path that Powertools does not have.

${capacityTable(paths)}

- Requests are tries: what the SDK repeats by itself counts again.
- Write and read units are what the engine reports, but for three things that local engines do not report, or not as
  DynamoDB does. They are computed as DynamoDB documents them.
  A refused conditional write costs the size of the item that refused it
  ([capacity of writes](https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html)).
  An item in a transaction costs double. A transaction that is repeated with its token is answered, and charged, as
  reads of its items
  ([TransactWriteItems](https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html)).
- Records and orders are below 1 KB but for the results of 1, 40 and 300 KB, which are random text. What compresses better
  costs less.
- Powertools keeps every result in the record itself, so that each refused claim pays for its size. onceonly
  compresses what is not small, and puts what then exceeds some 4 KB into an item of its own. That item costs one more write on
  the first run, and a read on each replay.
- A message costs nothing of its own: it is in the record until it is sent. What a relay then costs is not counted here.
- A commit costs more than an order that the handler puts on its own. That is the price of the transaction. It
  leaves no moment in which the order is there and its record is not.

### Cost of a million calls

What these units cost in DynamoDB's on-demand mode in ${region}, in US dollars. A million write units cost ${perMillionWriteUnits}, and a million
read units ${perMillionReadUnits}: the [list prices](${source}) since ${since}. Lambda, storage,
streams and the network are left out.

${costTable(paths)}
`;
}
