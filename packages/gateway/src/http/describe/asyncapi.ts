import {
  type JsonSchema,
  type Kind,
  type KindRule,
  kindRules,
  maxNesting,
  plainSchema,
  reservedNamespaces,
  SessionId,
  SpaceName,
  SUBPROTOCOL,
} from '@meup/protocol'
import { object, protocolSchemas, schemaRef, textSchema } from './schemas.js'

/** The messages of a WebSocket as an AsyncAPI 3 document [MEUP-11.8]. */
export function asyncApi(): JsonSchema {
  const rules = Object.entries(kindRules) as [Kind, KindRule][]
  const submitted = rules.filter(([, { gateway }]) => gateway !== true)
  const delivered = rules.filter(([, { ephemeral, gateway }]) => gateway === true || ephemeral !== true)
  const messages = {
    ...describeMessages('submit', submitted, 'submission'),
    ...describeMessages('deliver', delivered, 'envelope'),
  }
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'MEUP spaces',
      version: '0.3',
      description: `JSON envelopes, one per text frame, at most ${maxNesting} levels deep.`,
    },
    defaultContentType: 'application/json',
    channels: {
      space: {
        address: '/spaces/{space}/ws',
        title: 'A space',
        parameters: { space: { description: `its name: ${SpaceName.pattern}` } },
        messages: Object.fromEntries(Object.keys(messages).map((name) => [name, messageRef(name)])),
        bindings: { ws: socket },
      },
    },
    operations: {
      submit: operation('receive', 'Sent by a participant', 'submit', submitted),
      deliver: operation('send', 'Received by a participant', 'deliver', delivered),
    },
    components: { messages, schemas: protocolSchemas() },
  }
}

type Way = 'submit' | 'deliver'

/** The one message for all kinds in custom namespaces. */
const other = 'other'
const createMessageName = (way: Way, kind: string): string => `${way}.${kind}`
const messageRef = (name: string) => ({ $ref: `#/components/messages/${name}` })

const operation = (
  action: 'send' | 'receive',
  title: string,
  way: Way,
  rules: readonly (readonly [Kind, KindRule])[],
) => ({
  action,
  title,
  channel: { $ref: '#/channels/space' },
  messages: [...rules.map(([kind]) => kind), other].map((kind) => ({
    $ref: `#/channels/space/messages/${createMessageName(way, kind)}`,
  })),
})

/** A message per kind: the envelope, with the payload of that kind. */
function describeMessages(
  way: Way,
  rules: readonly (readonly [Kind, KindRule])[],
  envelope: 'submission' | 'envelope',
): Record<string, JsonSchema> {
  const known = rules.map(([kind, { meaning, requires = [] }]) => {
    const fields = { type: 'object', properties: { kind: { const: kind }, payload: schemaRef(kind) } }
    const payload = { allOf: [schemaRef(envelope), { ...fields, required: ['kind', ...requires] }] }
    return [createMessageName(way, kind), { name: kind, title: kind, summary: meaning, payload }]
  })
  const reserved = [...reservedNamespaces].join(' ')
  const summary = `any kind outside the reserved namespaces ${reserved}; and reasoning.* of one's own`
  return {
    ...Object.fromEntries(known),
    [createMessageName(way, other)]: { name: other, title: other, summary, payload: schemaRef(envelope) },
  }
}

const seq = { type: 'integer', minimum: 0 }

const flag = { type: 'integer', enum: [0, 1], default: 0 }

const socket = {
  method: 'GET',
  query: object(
    { after: seq, epoch: textSchema, tail: seq, tick: flag, hold: flag, session: plainSchema(SessionId) },
    ['after', 'epoch', 'tail', 'tick', 'hold', 'session'],
  ),
  headers: object(
    {
      'Sec-WebSocket-Protocol': {
        type: 'string',
        description: `${SUBPROTOCOL}, and bearer.<token> in browsers`,
      },
      Authorization: { type: 'string', description: 'Bearer <token>, where a client can set it' },
    },
    ['Authorization'],
  ),
}
