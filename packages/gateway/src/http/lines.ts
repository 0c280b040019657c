const [lineFeed, carriageReturn, space] = [0x0a, 0x0d, 0x20]

/**
 * JSON on one line, for formats that are made of lines. In JSON a line break can only be white space between tokens, so
 * that a space in its place means the same.
 */
export function oneLine(json: Uint8Array): Uint8Array {
  if (!json.includes(lineFeed) && !json.includes(carriageReturn)) return json
  return json.map((byte) => (byte === lineFeed || byte === carriageReturn ? space : byte))
}
