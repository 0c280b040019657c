const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const [seqBits, indexBits] = [53n, 27n]

/**
 * A ULID that can be made again from the log: milliseconds since 1970, then, in place of chance, the seq of an envelope
 * and the index of what was made of it.
 */
function ulid(milliseconds: number, seq: number, index: number): string {
  let rest = (((BigInt(milliseconds) << seqBits) | BigInt(seq)) << indexBits) | BigInt(index)
  let text = ''
  for (let length = 0; length < 26; length++) {
    text = alphabet.charAt(Number(rest & 31n)) + text
    rest >>= 5n
  }
  return text
}

/** The seq of the envelope that something with this id was made of. */
export function seqOfUlid(id: string): number {
  let bits = 0n
  for (const character of id) bits = (bits << 5n) | BigInt(alphabet.indexOf(character))
  return Number(BigInt.asUintN(Number(seqBits), bits >> indexBits))
}

/** Ids that rise with the log, also where the clock was put back. */
export class Ids {
  /** Latest time that the log has told. */
  milliseconds = 0
  #seq = 0
  #index = 0

  /** The next ids are for what is made of this envelope. */
  begin(milliseconds: number, seq: number): void {
    this.milliseconds = Math.max(this.milliseconds, milliseconds)
    this.#seq = seq
    this.#index = 0
  }

  next(): string {
    return ulid(this.milliseconds, this.#seq, this.#index++)
  }
}
