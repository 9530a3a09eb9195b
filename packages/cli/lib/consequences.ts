/** What follows from an operator's decision, as the command line and the console say it. The page imports this file too. */
export const CONSEQUENCES = {
  happened: "the handler doesn't run again: its own writes and messages in `commit` aren't made",
  stepHappened: "the next call gets this result for the step, and continues after it",
  runs: "the next call runs the handler",
  released:
    "the next call runs the handler, however the attempt ended: if the effect happened, it may happen twice",
  interrupted:
    "the attempt that holds the lease can't record anything any more, even if its process still runs and has its effect",
  erased:
    "the stored answer and the results of steps are gone for good; the record stays, so nothing runs again",
  answered: "callers may already have received the former answer",
  forked:
    "the fork has new child keys and message keys: other systems see the effects of the remaining steps as new ones",
  rerun: "callers have received this result; other systems may already have seen its effects",
} as const;
