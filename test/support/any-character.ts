import fc from 'fast-check'

const [surrogates, surrogateCount] = [0xd800, 0x800]

/** Any character of Unicode. The unit `binary` of fast-check is the same, but takes a second to prepare. */
export const anyCharacter = fc
  .integer({ min: 0, max: 0x10ffff - surrogateCount })
  .map((code) => String.fromCodePoint(code < surrogates ? code : code + surrogateCount))
