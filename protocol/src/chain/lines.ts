import { join } from './join.js'

const lineFeed = 0x0a

/** Each line of bytes that come in pieces, with the line feed that ends it; the last may lack it. */
export async function* linesOf(
  pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
  let parts: Uint8Array[] = []
  for await (const piece of pieces) {
    let start = 0
    for (let end = piece.indexOf(lineFeed); end >= 0; end = piece.indexOf(lineFeed, start)) {
      yield join(...parts, piece.subarray(start, end + 1))
      parts = []
      start = end + 1
    }
    if (start < piece.length) parts.push(piece.subarray(start))
  }
  if (parts.length > 0) yield join(...parts)
}
