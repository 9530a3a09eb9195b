/** The slot of a key, as a cluster computes it: https://valkey.io/topics/cluster-spec/#key-distribution-model */

const SLOTS = 16_384;

/** CRC16 of the hash tag, or of the whole key without one. */
export function slotOf(key: string): number {
  const open = key.indexOf("{");
  const close = key.indexOf("}", open + 1);
  const hashed = open >= 0 && close > open + 1 ? key.slice(open + 1, close) : key;
  let crc = 0;
  for (const byte of Buffer.from(hashed)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = ((crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1) & 0xffff) >>> 0;
  }
  return crc % SLOTS;
}
