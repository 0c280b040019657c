import { mkdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { Kind, rateClasses } from '@meup/protocol'
import { spaceName } from '../load/dialects.js'

/** 20 capabilities with patterns for payloads. Only the last ones allow the messages of the load. */
const usual = [
  ...Array.from({ length: 17 }, (_, i) => ({
    kind: Kind.mcpRequest,
    to: `server-${i}`,
    payload: {
      method: 'tools/call',
      params: { name: [`read_${i}_*`, '!read_secret*'], arguments: { path: `/srv/${i}/**` } },
    },
  })),
  { kind: Kind.chat, to: 'ops-*', payload: { message: '/deploy *' } },
  { kind: Kind.chat, payload: { message: ['**', '!/sudo **'] } },
  'reasoning.*',
]
/** Rates that are never reached, although every envelope is checked against them. */
const plenty = { perSecond: 1e12, burst: 1e12 }

export type Storage =
  | { readonly kind: 'memory' }
  | { readonly kind: 'sqlite'; readonly durability: 'process' | 'power' }

export interface SpaceOptions {
  readonly storage: Storage
  readonly senders: number
  readonly receivers: number
  /** Kind of the senders; default `human`. Chats of agents also count hops. */
  readonly senderKind?: 'human' | 'agent'
  /** Capabilities of all participants, in addition to the usual ones. */
  readonly capabilities?: readonly string[]
  /** Number of further spaces in the gateway, without activity. */
  readonly otherSpaces?: number
}

/** Names of participants in a measured space. */
export const senderName = (i: number): string => `s${i}`
export const receiverName = (i: number): string => `r${i}`
export const tokenOf = (participant: string): string => `token-of-participant-${participant}`

/** Writes the files of a gateway into a folder. All features are on that are on by default. */
export function writeSpace(folder: string, options: SpaceOptions): void {
  const { storage, senders, receivers, senderKind = 'human', capabilities = [], otherSpaces } = options
  const names = [
    ...Array.from({ length: senders }, (_, i) => [senderName(i), senderKind] as const),
    ...Array.from({ length: receivers }, (_, i) => [receiverName(i), 'agent'] as const),
  ]
  const space = {
    limits: {
      connectionsPerParticipant: 10_000,
      rates: Object.fromEntries(rateClasses.map((each) => [each, plenty])),
    },
    safety: { onLeak: 'mask' },
    defaults: { capabilities: [...usual, ...capabilities] },
    participants: Object.fromEntries(names.map(([name, kind]) => [name, { kind }])),
  }
  const others = Object.fromEntries(Array.from({ length: otherSpaces ?? 0 }, (_, i) => [`other-${i}`, space]))
  const spaces =
    otherSpaces === undefined ? { space: spaceName, ...space } : { spaces: { ...others, [spaceName]: space } }
  const tokens = join('.meup', 'tokens', otherSpaces === undefined ? '' : spaceName)
  writeFolder(
    folder,
    { storage, ...spaces },
    names.map(([name]) => join(tokens, name)),
  )
}

/** Writes space.yaml and the files of tokens, each named for its participant. */
function writeFolder(folder: string, config: object, tokens: readonly string[]): void {
  for (const file of tokens) {
    mkdirSync(join(folder, dirname(file)), { recursive: true, mode: 0o700 })
    writeFileSync(join(folder, file), tokenOf(basename(file)), { mode: 0o600 })
  }
  const all = { version: 1, gateway: { listen: '127.0.0.1:0' }, ...config }
  // JSON is valid YAML.
  writeFileSync(join(folder, 'space.yaml'), JSON.stringify(all, undefined, 1))
}

/** Writes a space with default rates and an attacker. */
export function writeAttackedSpace(folder: string, honest: readonly string[], attacker: string): void {
  const participants = {
    ...Object.fromEntries(honest.map((id) => [id, { kind: 'human', capabilities: [Kind.chat] }])),
    [attacker]: { kind: 'agent', capabilities: [Kind.chat, 'reasoning.*', 'mcp.*', Kind.capabilityGrant] },
  }
  writeFolder(
    folder,
    { space: spaceName, storage: { kind: 'sqlite', path: '.meup/space.db' }, participants },
    Object.keys(participants).map((id) => join('.meup', 'tokens', id)),
  )
}
