/** Parts of SQL that statements of a record share: the record's table is `r` in them. */
import type { Placeholders } from "./statement.ts";

/** Epoch ms of the server. */
export const NOW = "(extract(epoch FROM clock_timestamp()) * 1000)::double precision";

/** Distinguishes a transaction from the next one, which begins later: the handler may have sent a COMMIT in between. */
export const BEGAN = "extract(epoch FROM now())::text";

/** The claim is mine and I have not finished. */
export const mine = ({ pk, token }: Placeholders<"pk" | "token">) =>
  `r.pk = ${pk} AND r.token = ${token} AND r.state = 'in-progress'`;
