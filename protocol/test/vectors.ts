import { readFileSync } from 'node:fs'
import type { SessionSpace, Step } from './sessions.js'

interface Vector<Input, Expect> {
  readonly clause: string
  /** Further clauses that the vector tests. */
  readonly also?: readonly string[]
  readonly name: string
  readonly input: Input
  readonly expect: Expect
}

export interface Fault {
  readonly code: string
  readonly path?: string
}

interface Files {
  envelopes: Vector<string, 'ok' | Fault>
  aliases: Vector<string, { envelope: Record<string, unknown>; payload: string } | Fault>
  contexts: Vector<Record<string, string | string[]>, unknown>
  kinds: Vector<
    string,
    { readonly refused?: string; readonly requires?: readonly string[]; readonly takesRationale?: boolean }
  >
  /** `refusal`: the error code with which the gateway of a new space refuses the envelope, although its payload is valid. */
  payloads: Vector<{ kind: string; payload: unknown }, 'ok' | { path: string }> & {
    readonly refusal?: string
  }
  /** `observable: false` if a gateway cannot show the result, because no participant can send the envelope. */
  capabilities: Vector<
    { capabilities: unknown[]; envelope: { kind: string; payload: unknown } },
    boolean | { path: string }
  > & { readonly observable?: false }
  covers: Vector<{ held: unknown[]; asked: unknown[] }, boolean>
  sessions: Vector<SessionSpace, Step[]>
}

export const vectorFiles = [
  'envelopes',
  'aliases',
  'contexts',
  'kinds',
  'payloads',
  'capabilities',
  'covers',
  'sessions',
] as const satisfies readonly (keyof Files)[]

/** Reads the vectors of one file; each gets a title of its clause and its name. */
export function vectors<File extends keyof Files>(file: File): (Files[File] & { title: string })[] {
  const list: Files[File][] = JSON.parse(
    readFileSync(new URL(`../vectors/${file}.json`, import.meta.url), 'utf8'),
  )
  return list.map((vector) => ({ ...vector, title: `[${vector.clause}] ${vector.name}` }))
}
