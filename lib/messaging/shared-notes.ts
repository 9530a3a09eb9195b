/** The notes that all senders share, in the outbox: read once per invocation, changed here, and merged when saved. */
import { StoreUnavailableError } from "../core/errors.ts";
import type { Outbox } from "../core/messages/outbox.ts";
import { type LineNotes, parseNotes } from "./line-notes.ts";

type NotesChange = (notes: LineNotes) => LineNotes;

/** How often other senders may save their notes first before this one gives up. */
const MAX_SAVES = 5;

export class SharedNotes {
  readonly #outbox: Pick<Outbox, "readNotes" | "replaceNotes">;
  /** As last seen in the outbox. */
  #text: string | undefined;
  #current: LineNotes = {};
  #isRead = false;
  #unsaved: NotesChange[] = [];
  #saving: Promise<void> = Promise.resolve();

  constructor(outbox: Pick<Outbox, "readNotes" | "replaceNotes">) {
    this.#outbox = outbox;
  }

  /** Includes the changes that aren't saved yet. */
  get current(): LineNotes {
    return this.#current;
  }

  get isRead(): boolean {
    return this.#isRead;
  }

  /** @throws StoreUnavailableError (`STORE_UNAVAILABLE`) */
  read(): Promise<void> {
    return this.#afterSaving(async () => {
      this.#text = await this.#outbox.readNotes();
      this.#current = this.#unsaved.reduce((all, change) => change(all), parseNotes(this.#text));
      this.#isRead = true;
    });
  }

  /** Applies a change immediately here, and when saving to the notes that others have written meanwhile. */
  change(change: NotesChange): void {
    this.#current = change(this.#current);
    this.#unsaved.push(change);
  }

  /** @throws StoreUnavailableError (`STORE_UNAVAILABLE`) */
  save(): Promise<void> {
    // Save one at a time: of two at the same time, each would find that the other one has changed the notes.
    return this.#afterSaving(() => this.#save());
  }

  #afterSaving(next: () => Promise<void>): Promise<void> {
    this.#saving = this.#saving.catch(() => {}).then(next);
    return this.#saving;
  }

  async #save(): Promise<void> {
    for (let saves = 0; this.#unsaved.length > 0; saves++) {
      // More changes may arrive while these are saved.
      const changes = [...this.#unsaved];
      const previous = parseNotes(this.#text);
      const notes = JSON.stringify(changes.reduce((all, change) => change(all), previous));
      const isSame = notes === JSON.stringify(previous);
      if (isSame || (await this.#outbox.replaceNotes(this.#text, notes))) {
        // The outbox may have no notes, or unreadable ones: the next write has to name those.
        if (!isSame) this.#text = notes;
        this.#unsaved = this.#unsaved.slice(changes.length);
      } else if (saves < MAX_SAVES) this.#text = await this.#outbox.readNotes();
      else throw new StoreUnavailableError("conflict", new Error("the notes of the outbox keep changing"));
      this.#current = this.#unsaved.reduce((all, change) => change(all), parseNotes(this.#text));
    }
  }
}
