// A key service in this process that encrypts data keys as KMS does, and an encrypted store that shows its results to the contract.
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { StoreSubject } from "onceonly/testing";
import type { IdempotencyRecord, StoredResult } from "../../lib/core/record.ts";
import type { Store } from "../../lib/core/store.ts";
import type { DataKeys, EncryptionContext } from "../../lib/stores/data-keys.ts";

export interface KeyService extends DataKeys {
  readonly asked: { generate: EncryptionContext[]; decrypt: EncryptionContext[] };
  /** What the next requests throw. */
  failure: Error | undefined;
  /** No key of before is decrypted any more. */
  forgetAll(): void;
}

export function keyService(): KeyService {
  let master = randomBytes(32);
  const asked: KeyService["asked"] = { generate: [], decrypt: [] };
  const aad = (context: EncryptionContext) => Buffer.from(JSON.stringify([context.operation, context.scope]));
  const service: KeyService = {
    asked,
    failure: undefined,
    forgetAll() {
      master = randomBytes(32);
    },
    async generate(context) {
      asked.generate.push(context);
      if (service.failure) throw service.failure;
      const plain = randomBytes(32);
      const iv = randomBytes(12);
      const cipher = createCipheriv("aes-256-gcm", master, iv).setAAD(aad(context));
      const body = Buffer.concat([cipher.update(plain), cipher.final()]);
      return { plain, encrypted: Buffer.concat([iv, cipher.getAuthTag(), body]) };
    },
    async decrypt(encrypted, context) {
      asked.decrypt.push(context);
      if (service.failure) throw service.failure;
      const [iv, tag, body] = [encrypted.subarray(0, 12), encrypted.subarray(12, 28), encrypted.subarray(28)];
      const decipher = createDecipheriv("aes-256-gcm", master, iv).setAAD(aad(context)).setAuthTag(tag);
      try {
        return Buffer.concat([decipher.update(body), decipher.final()]);
      } catch {
        return undefined;
      }
    },
  };
  return service;
}

/** A subject whose store is `encrypt` of the store, with small results as texts in the records, as the contract asks for them. */
export function openedSubject<Write>(
  subject: StoreSubject<Write>,
  encrypt: (store: Store<Write>) => Store<Write>,
): StoreSubject<Write> {
  const store = encrypt(subject.store);
  const tellAll = async (record: IdempotencyRecord | undefined) => record && opened(record, store);
  const stored = new WeakMap<IdempotencyRecord, IdempotencyRecord>();
  const showing = async <T extends object>(answer: T): Promise<T> => {
    const { record } = answer as { record?: IdempotencyRecord };
    if (!record) return answer;
    const shown = (await tellAll(record)) as IdempotencyRecord;
    stored.set(shown, record);
    return { ...answer, record: shown };
  };
  const back = (seen: IdempotencyRecord | undefined) => seen && (stored.get(seen) ?? seen);
  const opening: Store<Write> = {
    claim: async (claim, seen) => showing(await store.claim(claim, back(seen))),
    settle: async (settlement) => showing(await store.settle(settlement)),
    renew: async (renewal) => showing(await store.renew(renewal)),
    insert: async (insertion, seen) => showing(await store.insert(insertion, back(seen))),
    find: async (recordKey, read) => (await showing({ record: await store.find(recordKey, read) })).record,
    loadResult: (address) => store.loadResult(address),
    checkEffects: (effects) => store.checkEffects(effects),
    ...(store.writeStep && {
      writeStep: async (change) => showing(await store.writeStep!(change)),
    }),
    unknownOutcomes: store.unknownOutcomes,
  };
  return { ...subject, store: opening };
}

async function opened(record: IdempotencyRecord, store: Store<never>): Promise<IdempotencyRecord> {
  const open = async (result: StoredResult | undefined): Promise<StoredResult | undefined> => {
    if (result?.in !== "item" || !/^sealed .*"text":/.test(result.address)) return result;
    return { in: "record", text: (await store.loadResult(result.address)) as string };
  };
  const steps = await Promise.all(
    Object.entries(record.steps ?? {}).map(async ([name, step]) => {
      const result = await open(step.result);
      return [name, result ? { ...step, result } : step] as const;
    }),
  );
  const result = await open(record.result);
  return {
    ...record,
    ...(result && { result }),
    ...(record.steps && { steps: Object.fromEntries(steps) }),
  };
}
