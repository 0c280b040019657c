const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
/** Lengths of the parts of an id in characters of 5 bits. */
const lengths = { time: 10, log: 4, seq: 8, index: 4 }
const seqStart = lengths.time + lengths.log

/** The seq of the envelope that an id was made from. */
export function getUlidSeq(id: string): number {
  let seq = 0
  for (const character of id.slice(seqStart, seqStart + lengths.seq))
    seq = 32 * seq + alphabet.indexOf(character)
  return seq
}

/**
 * Creates ULIDs that can be recomputed from the log: milliseconds since 1970, then, in place of random bits, a digest of the
 * epoch, the seq of an envelope, and an index within it. They increase with the log, whose times never go back.
 */
export function createUlids(epoch: string): (milliseconds: number, seq: number, index: number) => string {
  const log = encode(digest(epoch), lengths.log)
  return (milliseconds, seq, index) =>
    encode(milliseconds, lengths.time) + log + encode(seq, lengths.seq) + encode(index, lengths.index)
}

/** Encodes a number in base 32. Makes the string in one step, because appending characters would build a rope of strings. */
function encode(value: number, length: number): string {
  const codes = new Array<number>(length)
  for (let [at, rest] = [length - 1, value]; at >= 0; at--, rest = Math.floor(rest / 32))
    codes[at] = alphabet.charCodeAt(rest % 32)
  return String.fromCharCode(...codes)
}

/**
 * Digests a text to 20 bits (FNV-1a): enough to distinguish the logs of one database, whose ids already differ in time and seq.
 */
function digest(text: string): number {
  let hash = 0x811c9dc5
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193)
  return ((hash >>> 20) ^ hash) & 0xfffff
}
