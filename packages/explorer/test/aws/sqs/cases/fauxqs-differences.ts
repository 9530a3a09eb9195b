/** How the npm emulator fauxqs 1.9.2 differs from AWS, by the title of the case that shows it. It has the other cases right. */

const ONE_PER_GROUP = "hands out no more than one message of a group in a receive";
const NO_REDRIVE = "has no operations for redrive";
const NO_ALLOW_POLICY = "has no attribute RedriveAllowPolicy";
const QUEUE_SCOPE = "deduplicates in the whole queue, whatever DeduplicationScope says";
const DEAD_HANDLES = "accepts any receipt handle for deleting, also one that never was or has expired";
const UNCHECKED_POLICY = "does not check, nor remove, a redrive policy";
const UNCHECKED_ATTRIBUTES = "does not check attributes against the type of the queue";

export const FAUXQS_DIFFERENCES: Readonly<Record<string, string>> = {
  "a receive takes as many of one group as there are, then the next group": ONE_PER_GROUP,
  "a group with messages in flight gives out nothing more, and other groups go on": ONE_PER_GROUP,
  "a group goes on when all that was received of it is deleted": ONE_PER_GROUP,
  "messages without a timeout come again in order, and groups take turns": ONE_PER_GROUP,
  "a message that is put back comes again while a later one of its group is in flight": ONE_PER_GROUP,

  "with the scope messageGroup a deduplication id counts in its group": QUEUE_SCOPE,
  "the scope messageGroup does not need throughput per group": QUEUE_SCOPE,
  "purging takes what is in flight and the deduplication ids along": "keeps the deduplication ids of a purge",

  "what never was a receipt handle is refused": DEAD_HANDLES,
  "a FIFO queue refuses a handle that hides nothing": DEAD_HANDLES,
  "a batch deletes what it can": DEAD_HANDLES,
  "the visibility of a deleted message cannot be changed": "answers MessageNotInflight",
  "a standard queue changes visibility by the handle of an earlier receive": "answers MessageNotInflight",

  "a dead letter keeps attributes and receive count, and tells where it came from":
    "counts the receive that moves it, and does not tell the source",
  "H28: in a FIFO dead-letter queue the deduplication id is the message id": "keeps the deduplication id",
  "a redrive policy has both its parts": UNCHECKED_POLICY,
  "a dead-letter queue exists, and is of the same type": UNCHECKED_POLICY,
  "an empty redrive policy removes it": UNCHECKED_POLICY,
  "a dead-letter queue says by redriveAllowPolicy whose it is": NO_ALLOW_POLICY,
  "a redriveAllowPolicy names at most 10 queues, and only byQueue": NO_ALLOW_POLICY,
  "dead letters are moved to another queue": NO_REDRIVE,
  "without a destination each goes back to the queue it came from": NO_REDRIVE,
  "dead letters of a FIFO queue keep the order of their groups": NO_REDRIVE,
  "source and destination are dead-letter queues and queues that exist": NO_REDRIVE,
  "a task leaves what somebody has received where it is": NO_REDRIVE,
  "the latest tasks are listed first": NO_REDRIVE,

  "queue names have their characters, length and suffix": "does not check names",
  "attributes of FIFO queues are refused for standard queues": UNCHECKED_ATTRIBUTES,
  "throughput per group needs deduplication per group": UNCHECKED_ATTRIBUTES,
  "a queue stays of its type": UNCHECKED_ATTRIBUTES,
  "a queue has default attributes": "does not tell SqsManagedSseEnabled",
  "queues are listed by prefix and page": "starts again at the first queue for a NextToken",

  "a body has the characters of XML": "refuses characters beyond U+FFFF",
  "only attributes that are asked for are handed out, with the digest of those":
    "answers the digest of all attributes",
  "a trace header is a system attribute": "answers no digest of system attributes",
  "attributes have their names, types, values and number": "does not check attributes",
  "group and deduplication ids are 128 letters, digits and punctuation":
    "takes an empty id for a missing one",
  "a standard queue knows no deduplication ids": "takes them",
  "a standard queue takes a group id and keeps no order by it": "does not hand the group id out",
  "what a batch has none of is left out of its answer": "answers empty lists",
  "the ids of a batch have their characters and length": "does not check them",
  "an entry without group or deduplication id refuses the whole FIFO batch": "refuses that entry alone",
};
