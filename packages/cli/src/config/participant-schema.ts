import type { RateClass } from '@meup/protocol'
import { type Static, type TProperties, Type } from '@sinclair/typebox'
import { addressPattern, headerPattern } from './notation.js'
import { byKind, capabilities, flag, list, map, named, oneOf, refused, text, word } from './schema-parts.js'

const rate = Type.Optional(
  map({
    perSecond: Type.Number({ exclusiveMinimum: 0, description: 'a number above 0' }),
    burst: Type.Number({ minimum: 1, description: 'a number, 1 or more' }),
  }),
)
const classes = {
  reasoning: rate,
  chat: rate,
  mcp: rate,
  control: rate,
  other: rate,
  bytes: rate,
  results: rate,
  work: rate,
  frames: rate,
}
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

const url = Type.String({
  pattern: addressPattern,
  description: 'an address such as https://tools.example/mcp, without user and password',
})
const header = Type.String({ pattern: "^[\\w!#$%&'*+.^`|~-]+$" })
const headers = named(
  header,
  'the name of a header, such as authorization',
  Type.String({ pattern: headerPattern, description: 'one line of text, as a header holds it' }),
)
const orUrl = Type.String({
  ...word,
  description: `${word.description}; a server elsewhere has a url instead`,
})

export const participant = byKind('one of human, agent, mcp, process', [
  map({ kind: oneOf('human', 'agent'), ...common }),
  map({
    kind: oneOf('mcp'),
    ...common,
    ...program,
    command: orUrl,
    url: refused('cannot stand beside command; keep one of them'),
    headers: refused('goes with a url; give a command its secrets in env'),
  }),
  map({
    kind: oneOf('mcp'),
    ...common,
    url,
    headers: Type.Optional(headers),
    command: refused('cannot stand beside url; keep one of them'),
    args: refused('goes with a command; a url has none'),
    env: refused('goes with a command; give a url its secrets in headers'),
  }),
  map({
    kind: oneOf('process'),
    ...common,
    ...program,
    restart: Type.Optional(oneOf('never', 'on-failure', 'always')),
    watch: Type.Optional(flag),
  }),
])
export type FileParticipant = Static<typeof participant>
