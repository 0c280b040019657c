const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
/** Characters of the parts of an id; each has 5 bits. */
const lengths = { time: 10, log: 4, seq: 8, index: 4 }
const seqStart = lengths.time + lengths.log

/** The seq of the envelope that something with this id was made of. */
export function seqOfUlid(id: string): number {
  let seq = 0
  for (const character of id.slice(seqStart, seqStart + lengths.seq))
    seq = 32 * seq + alphabet.indexOf(character)
  return seq
}

/** What an id of this time, in milliseconds, or of a later one is not less than. */
export const lowestUlidAt = (milliseconds: number): string =>
  encode(Math.max(milliseconds, 0), lengths.time).padEnd(26, '0')

/**
 * ULIDs that can be made again from the log: milliseconds since 1970, then, in place of chance, which log it is, the seq of
 * an envelope, and the index of what was made of it. They rise with the log, also where the clock was put back.
 */
export class Ulids {
  readonly #log: string
  /** Latest time that the log has told. */
  milliseconds = 0
  #seq = 0
  /** What the ids of this envelope have in common; empty = none was asked for yet, as most envelopes make nothing. */
  #place = ''
  #index = 0

  constructor(epoch: string) {
    this.#log = encode(digest(epoch), lengths.log)
  }

  /** The next ids are for what is made of this envelope. */
  begin(milliseconds: number, seq: number): void {
    this.milliseconds = Math.max(this.milliseconds, milliseconds)
    this.#seq = seq
    this.#place = ''
    this.#index = 0
  }

  next(): string {
    return this.at(this.#index++)
  }

  /** The id with this index. */
  at(index: number): string {
    if (this.#place === '')
      this.#place = encode(this.milliseconds, lengths.time) + this.#log + encode(this.#seq, lengths.seq)
    return this.#place + encode(index, lengths.index)
  }
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
