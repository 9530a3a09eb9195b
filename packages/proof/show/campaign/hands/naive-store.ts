// The control: a store that forgets the fence. An attempt that finishes makes its writes and gets a success,
// whether or not it still has the key. A campaign that finds nothing wrong with this store sees nothing.
import { type DynamoDBDocumentClient, TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import type { Store } from "onceonly";
import type { DynamoDBWrite } from "onceonly/dynamodb";
import type { SettleAnswer } from "onceonly/store-kit";

type Writes = Pick<Parameters<Store<DynamoDBWrite>["settle"]>[0], "writes">;

export function naiveStore(
  store: Store<DynamoDBWrite>,
  documents: DynamoDBDocumentClient,
): Store<DynamoDBWrite> {
  async function writeAnyway(answer: SettleAnswer, { writes }: Writes): Promise<SettleAnswer> {
    if (!answer.settled && writes.length > 0) {
      await documents.send(new TransactWriteCommand({ TransactItems: writes as never[] }));
    }
    return { settled: true };
  }

  return {
    claim: (claim, expired) => store.claim(claim, expired),
    async settle(settlement) {
      const record = await store.find(settlement.recordKey, { consistent: true });
      const token = record?.token ?? settlement.token;
      return writeAnyway(await store.settle({ ...settlement, token }), settlement);
    },
    renew: (renewal) => store.renew(renewal),
    insert: async (insertion, expired) => writeAnyway(await store.insert(insertion, expired), insertion),
    find: (recordKey, read) => store.find(recordKey, read),
    loadResult: (address) => store.loadResult(address),
    checkEffects: (effects) => store.checkEffects(effects),
  };
}
