// SHA-256 (FIPS 180-4). The browser's own is asynchronous, and the library hashes in one step.

/** The first 32 bits of the fractional parts of the cube roots of the first 64 primes, and of the square roots of the first 8. */
const PRIMES = firstPrimes(64);
const ROUNDS = PRIMES.map((prime) => fraction(Math.cbrt(prime)));
const START = PRIMES.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));

export function sha256(message: Uint8Array): Uint8Array {
  const state = [...START];
  const blocks = padded(message);
  for (let at = 0; at < blocks.byteLength; at += 64) mix(state, new DataView(blocks.buffer, at, 64));
  const digest = new DataView(new ArrayBuffer(32));
  state.forEach((word, index) => {
    digest.setUint32(index * 4, word);
  });
  return new Uint8Array(digest.buffer);
}

function mix(state: number[], block: DataView): void {
  const words = Array.from({ length: 16 }, (_, index) => block.getUint32(index * 4));
  for (let index = 16; index < 64; index++) {
    const early = words[index - 15]!;
    const late = words[index - 2]!;
    const first = turn(early, 7) ^ turn(early, 18) ^ (early >>> 3);
    const second = turn(late, 17) ^ turn(late, 19) ^ (late >>> 10);
    words.push((words[index - 16]! + first + words[index - 7]! + second) | 0);
  }
  let [a, b, c, d, e, f, g, h] = state as [number, number, number, number, number, number, number, number];
  for (let index = 0; index < 64; index++) {
    const chosen = (e & f) ^ (~e & g);
    const sum = (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + h + chosen + ROUNDS[index]! + words[index]!;
    const majority = (a & b) ^ (a & c) ^ (b & c);
    const other = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + majority;
    [a, b, c, d, e, f, g, h] = [(sum + other) | 0, a, b, c, (d + sum) | 0, e, f, g];
  }
  [a, b, c, d, e, f, g, h].forEach((word, index) => {
    state[index] = (state[index]! + word) | 0;
  });
}

/** The message, a one bit, zeros, and the length in bits: whole blocks of 64 bytes. */
function padded(message: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(Math.ceil((message.length + 9) / 64) * 64);
  bytes.set(message);
  bytes[message.length] = 0x80;
  new DataView(bytes.buffer).setUint32(bytes.length - 4, message.length * 8);
  return bytes;
}

function turn(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}

function fraction(root: number): number {
  return ((root % 1) * 2 ** 32) | 0;
}

function firstPrimes(count: number): number[] {
  const primes: number[] = [];
  for (let next = 2; primes.length < count; next++) {
    if (primes.every((prime) => next % prime !== 0)) primes.push(next);
  }
  return primes;
}
