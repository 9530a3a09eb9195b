/** Asks the server of this page, with the token that it was served with. Keys go in bodies, never in an address. */
const token = document.querySelector<HTMLMetaElement>('meta[name="onceonly-token"]')?.content ?? "";

/** @throws Error with what the server says */
export async function ask<Answer>(path: string, body?: object): Promise<Answer> {
  const response = await fetch(`/api/${path}`, {
    method: body ? "POST" : "GET",
    headers: { "x-onceonly-token": token, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  }).catch(() => {
    throw new Error("the console isn't responding: its command has probably exited");
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.problem ?? `the console answered ${response.status}`);
  return answer;
}
