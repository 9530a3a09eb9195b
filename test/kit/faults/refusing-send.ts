// A queue that takes every message but one, and says which it took.
interface Batch {
  readonly input: { readonly Entries: readonly { readonly Id: string; readonly MessageBody: string }[] };
}

/** As `send` of a client: refuses for good what has the body `state.refused`, and adds the others to `accepted`. */
export function refusingSend(state: { readonly refused: string }, accepted: string[]) {
  return async ({ input }: Batch) => {
    const passed = input.Entries.filter(({ MessageBody }) => MessageBody !== state.refused);
    accepted.push(...passed.map(({ MessageBody }) => MessageBody));
    return {
      Successful: passed.map(({ Id }) => ({ Id, MessageId: Id })),
      Failed: input.Entries.filter((entry) => !passed.includes(entry)).map(({ Id }) => ({
        Id,
        Code: "Refused",
        SenderFault: true,
      })),
    };
  };
}
