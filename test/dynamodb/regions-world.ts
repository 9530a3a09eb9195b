// A table in two regions, eventually consistent as MREC. Each region decides conditions by its own copy, writes reach the
// other one later, and the last writer of an item wins.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/V2globaltables_HowItWorks.html
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { runOnce } from "onceonly";
import { DynamoDBStore } from "onceonly/dynamodb";
import { type FakeClock, fakeClock } from "onceonly/testing";
import { DynamoDBModel } from "../../packages/explorer/lib/aws/dynamodb/dynamodb-model.ts";

export const REGIONS = ["us-east-1", "eu-west-1"] as const;
export type Region = (typeof REGIONS)[number];
type Item = Readonly<Record<string, { readonly S?: string }>>;

interface Write {
  readonly from: Region;
  readonly at: number;
  readonly item: Item;
}

const TableName = "records";

export class TwoRegions {
  readonly clock: FakeClock = fakeClock();
  /** How often each key had its effect, somewhere outside. */
  readonly effects = new Map<string, number>();
  /** While it is cut, nothing is copied. */
  isCut = false;
  readonly #lagMs: number;
  readonly #models = new Map<Region, DynamoDBModel>();
  readonly #stores = new Map<Region, DynamoDBStore>();
  /** When each region's copy of an item was written, wherever that was. */
  readonly #writtenAt = new Map<string, number>();
  readonly #known = new Set<string>();
  #waiting: Write[] = [];

  constructor(lagMs: number) {
    this.#lagMs = lagMs;
  }

  async open(): Promise<this> {
    for (const region of REGIONS) {
      const model = new DynamoDBModel({ clock: this.clock, region });
      await model.call("CreateTable", {
        TableName,
        BillingMode: "PAY_PER_REQUEST",
        AttributeDefinitions: [{ AttributeName: "pk", AttributeType: "S" }],
        KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }],
      });
      const config = model.clientConfig({
        intercept: async (_call, run) => {
          const answer = await run();
          await this.#noteWrites(region);
          return answer;
        },
      });
      this.#models.set(region, model);
      this.#stores.set(
        region,
        new DynamoDBStore({ tableName: TableName, client: new DynamoDBClient(config) }),
      );
    }
    return this;
  }

  /** One delivery, handled in `region`. Resolves to what the caller gets: `key 1` is the first effect of `key`. */
  deliver(key: string, region: Region, workMs = 0): Promise<string> {
    const store = this.#stores.get(region)!;
    const options = { operation: "pay", store, clock: this.clock, leaseSeconds: 30 };
    return runOnce(options, key, {}, async () => {
      if (workMs > 0) await this.clock.sleep(workMs);
      const count = (this.effects.get(key) ?? 0) + 1;
      this.effects.set(key, count);
      return `${key} ${count}`;
    });
  }

  /** Time passes, and what is old enough reaches the other region. */
  async advance(ms: number): Promise<void> {
    await this.clock.advance(ms);
    if (this.isCut) return;
    const due = this.#waiting.filter(({ at }) => at + this.#lagMs <= this.clock.now());
    this.#waiting = this.#waiting.filter((write) => !due.includes(write));
    for (const { from, at, item } of due) {
      const to = REGIONS.find((region) => region !== from)!;
      if (at < this.#timeOf(to, item)) continue;
      await this.#models.get(to)!.call("PutItem", { TableName, Item: item as never });
      this.#writtenAt.set(`${to} ${item.pk?.S}`, at);
      // A copy is no write of the region that it came to.
      this.#known.add(`${to} ${JSON.stringify(item)}`);
    }
  }

  /** By the key alone, so that every client and every region agrees. */
  homeOf(key: string): Region {
    const sum = [...key].reduce((total, letter) => total + letter.charCodeAt(0), 0);
    return REGIONS[sum % REGIONS.length]!;
  }

  async #noteWrites(from: Region): Promise<void> {
    const { Items = [] } = await this.#models.get(from)!.call("Scan", { TableName, ConsistentRead: true });
    for (const item of Items as readonly Item[]) {
      const image = `${from} ${JSON.stringify(item)}`;
      if (this.#known.has(image)) continue;
      this.#known.add(image);
      const at = this.clock.now();
      this.#writtenAt.set(`${from} ${item.pk?.S}`, at);
      this.#waiting.push({ from, at, item });
    }
  }

  #timeOf(region: Region, item: Item): number {
    return this.#writtenAt.get(`${region} ${item.pk?.S}`) ?? 0;
  }
}
