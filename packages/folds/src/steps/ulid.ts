const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
/** Characters of the parts of an id; each has 5 bits. */
const lengths = { time: 10, log: 4, seq: 8, index: 4 }
const seqStart = lengths.time + lengths.log

/** The seq of the envelope that something with this id was made of. */
export function getUlidSeq(id: string): number {
  let seq = 0
  for (const character of id.slice(seqStart, seqStart + lengths.seq))
    seq = 32 * seq + alphabet.indexOf(character)
  return seq
}

/**
 * Gives the ULIDs of a log, which can be made again from it: milliseconds since 1970, then, in place of chance, which log it is,
 * the seq of an envelope, and the index of what was made of it. They rise with the log, whose times never go back.
 */
export function createUlids(epoch: string): (milliseconds: number, seq: number, index: number) => string {
  const log = encode(digest(epoch), lengths.log)
  return (milliseconds, seq, index) =>
    encode(milliseconds, lengths.time) + log + encode(seq, lengths.seq) + encode(index, lengths.index)
}

function encode(value: number, length: number): string {
  let [rest, text] = [value, '']
  while (text.length < length) {
    text = alphabet.charAt(rest % 32) + text
    rest = Math.floor(rest / 32)
  }
  return text
}

/** 20 bits of FNV-1a: enough to keep the logs of one database apart, whose ids would else differ by time and seq alone. */
function digest(text: string): number {
  let hash = 0x811c9dc5
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193)
  return ((hash >>> 20) ^ hash) & 0xfffff
}
