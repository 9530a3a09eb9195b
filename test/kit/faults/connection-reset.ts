// Why an answer does not come, as Node reports it when the other side hangs up before it answers.

export function connectionReset(): Error {
  return Object.assign(new Error("socket hang up"), { code: "ECONNRESET" });
}
