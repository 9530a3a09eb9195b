// SNS and EventBridge have no engine that runs locally. This fakes them at the edge of the SDK's clients and no further
// in. Here `send` gets the SDK's own commands, notes them, and answers as the service's documentation says.

export interface EntryFault {
  readonly Code: string;
  readonly SenderFault?: boolean;
}

interface SnsEntry {
  readonly Id: string;
  readonly Message: string;
  readonly MessageGroupId?: string;
  readonly MessageDeduplicationId?: string;
  readonly MessageAttributes?: unknown;
}

interface BusEntry {
  readonly EventBusName: string;
  readonly Source: string;
  readonly DetailType: string;
  readonly Detail: string;
}

interface Fake<Entry> {
  readonly config: object;
  readonly send: (command: { readonly input: object }) => Promise<unknown>;
  /** The entries of each request. */
  readonly requests: Entry[][];
  /** What was accepted, in order. */
  readonly accepted: Entry[];
  /** Entries that it has a fault for are not accepted. */
  faultOf: (entry: Entry) => EntryFault | undefined;
  /** How many answers, of the next requests, do not arrive. */
  answersToLose: number;
}

export function fakeSns(): Fake<SnsEntry> {
  return fakeClient(
    (command) => (command as { PublishBatchRequestEntries: SnsEntry[] }).PublishBatchRequestEntries,
    answerOfSns,
  );
}

export function fakeEventBridge(): Fake<BusEntry> {
  return fakeClient((command) => (command as { Entries: BusEntry[] }).Entries, answerOfEventBridge);
}

type Ends<Entry> = readonly { readonly entry: Entry; readonly fault: EntryFault | undefined }[];

/** https://docs.aws.amazon.com/sns/latest/api/API_PublishBatch.html */
function answerOfSns(ends: Ends<SnsEntry>): object {
  const Successful: object[] = [];
  const Failed: object[] = [];
  for (const { entry, fault } of ends) {
    const { Id, Message, MessageDeduplicationId } = entry;
    const SequenceNumber = MessageDeduplicationId && `10000000000000000${Message.length}`;
    if (fault === undefined) Successful.push({ Id, MessageId: `id of ${Message}`, SequenceNumber });
    else Failed.push({ Id, ...fault });
  }
  // In no particular order.
  return { Successful: Successful.reverse(), Failed };
}

/** https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEvents.html */
function answerOfEventBridge(ends: Ends<BusEntry>): object {
  const Entries = ends.map(({ entry, fault }) =>
    fault === undefined ? { EventId: `id of ${entry.DetailType}` } : { ErrorCode: fault.Code },
  );
  return { FailedEntryCount: ends.filter(({ fault }) => fault).length, Entries };
}

function fakeClient<Entry>(entriesOf: (input: object) => Entry[], answerOf: (ends: Ends<Entry>) => object) {
  const fake: Fake<Entry> = {
    config: {},
    requests: [],
    accepted: [],
    faultOf: () => undefined,
    answersToLose: 0,
    async send({ input }) {
      // Whether a bus is there: it is.
      if ("Name" in input) return {};
      const entries = entriesOf(input);
      fake.requests.push(entries);
      const ends = entries.map((entry) => ({ entry, fault: fake.faultOf(entry) }));
      for (const { entry, fault } of ends) if (fault === undefined) fake.accepted.push(entry);
      if (fake.answersToLose-- > 0) throw Object.assign(new Error("lost"), { name: "TimeoutError" });
      return answerOf(ends);
    },
  };
  return fake;
}
