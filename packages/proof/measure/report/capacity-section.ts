// The section of docs/proof/benchmarks.md about requests and capacity, and what they cost. Pure.
import { type CountedPath, capacityTable, costTable } from "./capacity-table.ts";
import { PRICES } from "./prices.ts";

export function capacitySection(paths: readonly CountedPath[]): string {
  const { region, since, source, perMillionWriteUnits, perMillionReadUnits } = PRICES;
  return `## Requests and capacity

Exact counts: they are the same in every run. A dash is a path that Powertools does not have.

${capacityTable(paths)}

- Requests include the SDK's own retries.
- Write and read units are the engine's, except three that local engines don't report, or report differently.
  Those are computed as DynamoDB documents them:
  a refused conditional write costs the size of the item that refused it
  ([capacity of writes](https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html)).
  An item in a transaction costs double. A transaction that is repeated with its token is charged as
  reads of its items
  ([TransactWriteItems](https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html)).
- Records and orders are below 1 KB, except the results of 1, 40 and 300 KB, which are random text. Results that compress better
  cost less.
- Powertools keeps every result in the record itself, so each refused claim pays for its size. onceonly
  compresses results, and stores those above about 4 KB in a separate item. That costs one more write in
  the first run, and a read in each replay.
- A message adds no cost to the commit: it's in the record until it's sent. The relay's cost isn't counted here.
- A commit costs more than an order that the handler puts itself. That's the price of the transaction, which
  never leaves an order without its record.

### Cost of a million calls

What these units cost in DynamoDB's on-demand mode in ${region}, in US dollars. A million write units cost ${perMillionWriteUnits}, and a million
read units ${perMillionReadUnits}: the [list prices](${source}) since ${since}. Lambda, storage,
streams and the network are left out.

${costTable(paths)}
`;
}
