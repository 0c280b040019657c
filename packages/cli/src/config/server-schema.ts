import { Type } from '@sinclair/typebox'
import { keysPattern, listenPattern } from './notation.js'
import { byKind, flag, list, map, oneOf, word } from './schema-parts.js'

const listen = Type.String({
  pattern: listenPattern,
  description: 'HOST:PORT, such as 127.0.0.1:8080 or "[::1]:8080"',
})
/** Compared as a whole with what browsers send. */
const origin = Type.String({
  pattern: '^[a-z][a-z0-9+.-]*://[^/\\sA-Z]+$',
  description: 'an origin in lower case and without a path, such as https://app.example',
})
export const gateway = Type.Optional(
  map({
    listen: Type.Optional(listen),
    origins: Type.Optional(list(origin)),
    trustProxy: Type.Optional(flag),
  }),
)

const server = Type.String({
  pattern: '^(nats|tls)://[^/\\s@]+$',
  description: 'an address such as nats://127.0.0.1:4222; credentials belong in a file',
})
const replicas = Type.Union([Type.Literal(1), Type.Literal(3), Type.Literal(5)], {
  description: '1, 3 or 5',
})
export const storage = Type.Optional(
  byKind('memory, sqlite or jetstream', [
    map({ kind: oneOf('memory') }),
    map({
      kind: oneOf('sqlite'),
      path: Type.Optional(word),
      durability: Type.Optional(oneOf('process', 'power')),
    }),
    map({
      kind: oneOf('jetstream'),
      servers: Type.Array(server, { minItems: 1, description: 'a list of one address or more' }),
      replicas: Type.Optional(replicas),
      credentials: Type.Optional(word),
      path: Type.Optional(word),
    }),
  ]),
)

const keys = Type.String({
  pattern: keysPattern,
  description: 'an https address (http on this machine alone), or the path of a file',
})
export const auth = Type.Optional(
  map({ jwt: Type.Optional(map({ issuer: word, audience: word, jwks: keys })) }),
)
