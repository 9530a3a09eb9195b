/** The records of a batch: an event source mapping sends `{ Records }`, a pipe an array. Pure. */

/** Empty for any other event. */
export function recordsIn<Entry>(event: unknown): readonly Entry[] {
  const records: unknown = Array.isArray(event) ? event : Object(event).Records;
  return Array.isArray(records) ? records : [];
}

/** The records in the form of the event that they come from. */
export function batchLike(event: unknown, records: readonly object[]): object {
  return Array.isArray(event) ? records : { Records: records };
}
