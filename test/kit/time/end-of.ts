// How a call ends whose connection may be lost. Its timeouts come early, but only while nothing answers.

/** Tests replace the timers. */
const realTimeout = setTimeout;

/**
 * Resolves to the answer of a call, or to the code of its error; to the error itself if it has no code.
 * @param pass lets time pass. It's called every 5 ms, with `true` now and then while the server is silent
 */
export async function endOf(
  call: Promise<unknown>,
  pass: (isSilent: boolean) => unknown,
  isSilent: () => boolean = () => false,
): Promise<unknown> {
  let isEnded = false;
  const end = call
    .catch((error) => error.code ?? error)
    .finally(() => {
      isEnded = true;
    });
  for (let turn = 0; !isEnded; turn++) {
    await new Promise((resolve) => realTimeout(resolve, 5));
    await pass(isSilent() && turn % 10 === 9);
  }
  return end;
}
