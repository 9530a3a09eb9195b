/** Shared by all service models: the time, new ids, the Region and the account. */
import type { Clock, Random } from "onceonly/kit";

export interface AwsServiceOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly region: string;
  readonly accountId: string;
}

const FIRST_SEQUENCE_NUMBER = 10n ** 19n;

export class AwsService<Options extends AwsServiceOptions> {
  readonly options: Options;
  readonly #nameInArns: string;
  readonly #sequenceStep: bigint;
  #sequence = 0n;

  constructor(options: Options, nameInArns: string, sequenceStep = 1n) {
    this.options = options;
    this.#nameInArns = nameInArns;
    this.#sequenceStep = sequenceStep;
  }

  now(): number {
    return this.options.clock.now();
  }

  newId(): string {
    return this.options.random.token();
  }

  /** 20 digits; each number is larger than the one before. */
  newSequenceNumber(): string {
    this.#sequence += this.#sequenceStep;
    return String(FIRST_SEQUENCE_NUMBER + this.#sequence);
  }

  arnOf(resource: string): string {
    return `arn:aws:${this.#nameInArns}:${this.options.region}:${this.options.accountId}:${resource}`;
  }
}
