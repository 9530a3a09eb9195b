/** What the doctor could not look at. A check that needed it says so, and concludes nothing from it. */

export interface Unseen {
  /** For people: `TTL of table records`. */
  readonly what: string;
  readonly why: string;
  readonly remedy: string;
  /** The types of which something may stay unseen; absent where it may be anything. */
  readonly types?: readonly string[];
  /** The resource of which one property is unseen; absent where whole resources are. */
  readonly id?: string;
  /** Nothing to look at: this kind of place doesn't have it. */
  readonly isNowhere?: boolean;
}

export class Sight {
  readonly #unseen: Unseen[] = [];
  readonly #met = new Set<Unseen>();

  /** Resources of which nothing could be read: each check of one of the types meets them. */
  add(unseen: Unseen): void {
    this.#unseen.push(unseen);
  }

  /** One property is unseen: reading it returns this. */
  hide(properties: object, name: string, unseen: Unseen): void {
    Object.defineProperty(properties, name, {
      enumerable: true,
      get: () => void this.#met.add(unseen),
    });
  }

  /** A check asks for resources of these types. */
  ask(types: readonly string[]): void {
    for (const unseen of this.#unseen) {
      if (mayBe(unseen, types)) this.#met.add(unseen);
    }
  }

  /** Whether resources of this type are unseen. */
  lacks(type: string): boolean {
    return this.#unseen.some((unseen) => mayBe(unseen, [type]));
  }

  /** What `find` finds, and what it met on its way. */
  during<T>(find: () => T): { readonly found: T; readonly met: readonly Unseen[] } {
    this.#met.clear();
    return { found: find(), met: [...this.#met] };
  }
}

export const mayBe = ({ types }: Unseen, wanted: readonly string[]): boolean =>
  types === undefined || types.some((type) => wanted.includes(type));
