/** The objects in buckets, and the emails that were sent. */
import { isUtf8 } from "node:buffer";
import type { S3Model } from "../aws/http-services/s3-model.ts";
import type { SesModel } from "../aws/http-services/ses-model.ts";
import type { Effect, KeyedEffect } from "./effect.ts";
import { plainOf, plainText } from "./plain-value.ts";

/** The same bytes under the same key are one effect, however often they were put. */
export function objectEffects(s3: S3Model): KeyedEffect[] {
  return s3.bucketNames.flatMap((place) =>
    [...s3.objects(place)].map(([key, bytes]): KeyedEffect => {
      const content = Buffer.from(bytes);
      const body = isUtf8(content) ? plainText(content.toString()) : content.toString("base64");
      return { kind: "object", place, content: { key, body }, keyNames: ["key"] };
    }),
  );
}

export function emailEffects({ sent }: Pick<SesModel, "sent">): Effect[] {
  return sent.map(({ operation, input }) => ({
    kind: "call",
    place: `ses ${operation}`,
    content: { input: plainOf(input) },
  }));
}
