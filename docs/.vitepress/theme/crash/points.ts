// Where the process can die, in the order in which a request passes them.
export const CRASH_POINTS = [
  "before the claim",
  "after the claim",
  "after the charge",
  "after the commit",
  "before the answer arrives",
] as const;

export type CrashPoint = (typeof CRASH_POINTS)[number];
