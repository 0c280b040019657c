import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { repositoryRoot } from '../../../../../test/support/files.js'
import { needing } from '../../../../../test/verifies.js'

/** A real response of a provider: complete, or the body of a stream. */
export interface Recording {
  readonly name: string
  readonly whole?: unknown
  readonly body?: Uint8Array
  /** The body has the binary framing of AWS event streams. */
  readonly isFramed?: true
}

const folder =
  process.env.MEUP_PROVIDER_RECORDINGS ?? join(repositoryRoot, '..', 'shared', 'fixtures', 'providers')

/** Recordings of other projects, so they are kept outside of the repository. */
export const withRecordings = needing(
  'recorded responses of providers, in the folder that MEUP_PROVIDER_RECORDINGS names',
  () => existsSync(folder) && recordingsIn(folder),
)

function recordingsIn(path: string): Recording[] {
  const files = readdirSync(path, { recursive: true, encoding: 'utf8' }).sort()
  return files.flatMap((name) => {
    const read = () => readFileSync(join(path, name))
    if (name.endsWith('.chunks.txt')) return [{ name, body: read() }]
    if (name.endsWith('.json')) return [{ name, whole: JSON.parse(read().toString()) }]
    return name.endsWith('.yaml') ? cassette(name, read().toString()) : []
  })
}

interface Interaction {
  readonly response: {
    readonly parsed_body?: unknown
    readonly body?: { readonly string: string | Uint8Array }
  }
}

/** Reads a file of recorded requests; returns one recording per response. */
function cassette(file: string, text: string): Recording[] {
  const { interactions }: { interactions: Interaction[] } = parse(text, { schema: 'yaml-1.1' })
  return interactions.map(({ response: { parsed_body: whole, body } }, index) => {
    const name = `${file} ${index}`
    if (whole !== undefined) return { name, whole }
    if (typeof body?.string === 'string') return { name, body: new TextEncoder().encode(body.string) }
    return { name, body: body?.string ?? new Uint8Array(), isFramed: true }
  })
}

/**
 * Returns the payloads of an AWS event stream. Each frame has: length, length of headers, checksum, headers, payload, checksum.
 */
export function unframed(bytes: Uint8Array): unknown[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const events: unknown[] = []
  for (let at = 0; at < bytes.length; at += view.getUint32(at)) {
    const payload = bytes.subarray(at + 12 + view.getUint32(at + 4), at + view.getUint32(at) - 4)
    events.push(JSON.parse(new TextDecoder().decode(payload)))
  }
  return events
}
