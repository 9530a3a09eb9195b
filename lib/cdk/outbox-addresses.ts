// The addresses that relay and sweeper may send to: one list for all operations, or one for each. No I/O.
import { Token } from "aws-cdk-lib";

/** The limit that handlers have for `operation`. */
const MAX_OPERATION_LENGTH = 64;

/** Collects the addresses; the first one decides whether each operation has its own list. */
export class OutboxAddresses {
  readonly #path: string;
  readonly #ofAll: string[] = [];
  readonly #ofEach = new Map<string, string[]>();
  #isPerOperation: boolean | undefined;

  constructor(path: string, isPerOperation: boolean | undefined) {
    this.#path = path;
    this.#isPerOperation = isPerOperation;
  }

  /** @throws Error if some destinations are for all operations and others aren't */
  add(addresses: readonly string[], operations: readonly string[]): void {
    const isPerOperation = operations.length > 0;
    this.#isPerOperation ??= isPerOperation;
    if (this.#isPerOperation !== isPerOperation) {
      throw new Error(
        isPerOperation
          ? `${this.#path} has destinations for all operations, and one for ${operations.join(", ")} only: list operations for every destination, or for none`
          : `${this.#path} has destinations per operation, and one without any: list the operations that it's for`,
      );
    }
    const unusable = operations.find(
      (name) => name === "" || (name.length > MAX_OPERATION_LENGTH && !Token.isUnresolved(name)),
    );
    if (unusable !== undefined) {
      throw new Error(
        `destinations of ${this.#path} are for the operation ${JSON.stringify(unusable)}: use the \`operation\` of a handler, 1 to ${MAX_OPERATION_LENGTH} characters`,
      );
    }
    if (!isPerOperation) this.#ofAll.push(...addresses);
    for (const name of operations) {
      this.#ofEach.set(name, [...new Set([...(this.#ofEach.get(name) ?? []), ...addresses])]);
    }
  }

  get isEmpty(): boolean {
    return this.#ofAll.length === 0 && this.#ofEach.size === 0;
  }

  /** The operations that have their own destinations. */
  get operations(): string[] {
    return [...this.#ofEach.keys()];
  }

  /** The value of the option `destinations` of relay and sweeper. */
  get asOption(): object {
    return this.#isPerOperation ? Object.fromEntries(this.#ofEach) : this.#ofAll;
  }
}
