import type { RateClass } from '@meup/protocol'
import { type Static, type TProperties, Type } from '@sinclair/typebox'
import { byKind, capabilities, list, map, named, oneOf, refused, text, word } from './schema-parts.js'

const rate = Type.Optional(
  map({
    perSecond: Type.Number({ exclusiveMinimum: 0, description: 'a number above 0' }),
    burst: Type.Number({ minimum: 1, description: 'a number, 1 or more' }),
  }),
)
const classes = { reasoning: rate, chat: rate, mcp: rate, control: rate, other: rate, bytes: rate }
export const rates = map(classes satisfies Record<RateClass, TProperties[string]>)

const common = {
  capabilities: Type.Optional(capabilities),
  limits: Type.Optional(map({ rates: Type.Optional(rates) })),
}

const variable = Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]*$' })
const program = {
  command: word,
  args: Type.Optional(list(text)),
  env: Type.Optional(named(variable, 'a name of letters, digits and _, not beginning with a digit', text)),
}

const remote = refused('is not offered by this version; run the server from here by its command')

export const participant = byKind('one of human, agent, mcp, process', [
  map({ kind: oneOf('human', 'agent'), ...common }),
  map({ kind: oneOf('mcp'), ...common, ...program, url: remote, headers: remote }),
  map({
    kind: oneOf('process'),
    ...common,
    ...program,
    restart: Type.Optional(oneOf('never', 'on-failure', 'always')),
  }),
])
export type FileParticipant = Static<typeof participant>
