// A module as `--store` takes one. The test says which store that is.
import type { OperatedOutbox } from "../../../lib/core/messages/operated-outbox.ts";
import type { Store } from "../../../lib/core/store.ts";

const given: { store?: Store<never>; outbox?: OperatedOutbox } = {};

// biome-ignore lint/style/noDefaultExport: the command line asks for it
export default given;
