// A payment provider that recognizes no idempotency keys, but answers what it has done.

export const PROVIDER = "https://payments.example";

export interface Known {
  readonly charged: number;
  readonly refunded: number;
}

export class Provider {
  readonly #known = new Map<string, Known>();

  readonly serve = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    const [, what = "", id = ""] = pathname.split("/");
    const known = this.about(id);
    if (what === "charges" && request.method === "POST")
      this.#known.set(id, { ...known, charged: known.charged + 1 });
    if (what === "refunds") this.#known.set(id, { ...known, refunded: known.refunded + 1 });
    return Response.json(this.about(id));
  };

  about(id: string): Known {
    return this.#known.get(id) ?? { charged: 0, refunded: 0 };
  }
}

async function asked(path: string, method = "GET"): Promise<Known> {
  const answer = await fetch(`${PROVIDER}/${path}`, { method });
  if (!answer.ok) throw new Error(`the provider answered ${answer.status}`);
  return (await answer.json()) as Known;
}

export const lookUp = (id: string): Promise<Known> => asked(`charges/${id}`);

export async function charge(id: string): Promise<string> {
  await asked(`charges/${id}`, "POST");
  return id;
}

/** Does nothing if there is nothing to refund. */
export async function refund(id: string): Promise<string> {
  const { charged, refunded } = await lookUp(id);
  if (charged > refunded) await asked(`refunds/${id}`, "POST");
  return id;
}
