/** How an export begins [MEUP-10.4]. Salts and hashes are hexadecimal. */
interface Header {
  readonly epoch: string
  /** Seq of the first envelope. */
  readonly first: number
  /** What the first envelope links to. */
  readonly previous: string
}

/** An envelope that the reader may read: its exact JSON as text. */
interface Shown {
  readonly seq: number
  readonly salt: string
  readonly body: string
}

/** One that the reader may not read: nothing but its place in the chain. */
interface Withheld {
  readonly seq: number
  readonly leaf: string
}

/** How an export ends. */
interface Trailer {
  readonly epoch: string
  readonly head: number
  readonly hash: string
}

export type ExportRecord = Header | Shown | Withheld | Trailer

/** A record as the line that it is, with the line feed that ends it: there is one way to write it. */
export const exportLine = (record: ExportRecord): string => `${JSON.stringify(record)}\n`

/** The record of a line with its line feed; `undefined` = no gateway has written this. */
export function readExportLine(bytes: Uint8Array): ExportRecord | undefined {
  try {
    const line = decoder.decode(bytes)
    const record: unknown = JSON.parse(line)
    return isRecord(record) && exportLine(record) === line ? record : undefined
  } catch {
    return undefined
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

type Test = (value: unknown) => boolean

/** Lone surrogates would become other bytes. */
const isText: Test = (value) => typeof value === 'string' && value.isWellFormed()
const isWhole: Test = (value) => Number.isSafeInteger(value) && Number(value) >= 0
const isHex =
  (bytes: number): Test =>
  (value) =>
    typeof value === 'string' && value.length === 2 * bytes && /^[\da-f]*$/.test(value)
const [isSalt, isHash] = [isHex(16), isHex(32)]

/** The fields of each kind of record, in their order. */
const shapes: readonly Readonly<Record<string, Test>>[] = [
  { seq: isWhole, salt: isSalt, body: isText },
  { seq: isWhole, leaf: isHash },
  { epoch: isText, first: isWhole, previous: isHash },
  { epoch: isText, head: isWhole, hash: isHash },
]

function isRecord(value: unknown): value is ExportRecord {
  const fields = Object.entries(Object(value))
  const names = fields.map(([name]) => name).join()
  const shape = shapes.find((each) => Object.keys(each).join() === names)
  return shape !== undefined && fields.every(([name, field]) => shape[name]?.(field) === true)
}
