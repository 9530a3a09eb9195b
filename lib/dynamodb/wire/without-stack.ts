/**
 * Makes an error without a stack trace: each replay begins with a refused condition, and the store reads only its item. If the
 * process has frozen `Error`, the error has a trace.
 */
export function withoutStack<Made extends Error>(make: () => Made): Made {
  const { stackTraceLimit } = Error;
  Reflect.set(Error, "stackTraceLimit", 0);
  try {
    return make();
  } finally {
    Reflect.set(Error, "stackTraceLimit", stackTraceLimit);
  }
}
