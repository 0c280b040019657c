import { ParticipantId, SpaceName } from '@meup/protocol'
import { type Static, Type } from '@sinclair/typebox'
import { durationPattern } from './notation.js'
import { participant, rates } from './participant-schema.js'
import { safety } from './safety-schema.js'
import { atLeast, capabilities, flag, map, named, oneOf, refused } from './schema-parts.js'
import { auth, gateway, storage } from './server-schema.js'

const spaceName = 'a name: up to 63 lower-case letters, digits and -, not beginning with -'
const participantId = 'an id: up to 64 letters, digits and . _ -, beginning with a letter or digit'

const count = Type.Optional(atLeast(1))
const limits = map({
  maxEnvelopeBytes: count,
  maxResultBytes: count,
  work: count,
  sendBufferBytes: count,
  contextDepth: count,
  contextLength: count,
  connectionsPerParticipant: count,
  agentHops: count,
  rates: Type.Optional(rates),
})
export type FileLimits = Static<typeof limits>

const duration = Type.String({
  pattern: durationPattern,
  description: 'a duration of some days at most, such as 500ms, 60s, 5m or 2h',
})
const held = Type.Optional(map({ capabilities: Type.Optional(capabilities) }))

/** What is said of each space. */
const space = {
  retention: Type.Optional(map({ days: Type.Optional(atLeast(0)) })),
  limits: Type.Optional(limits),
  reasoning: Type.Optional(
    map({ collaborative: Type.Optional(flag), abandonAfter: Type.Optional(duration) }),
  ),
  safety: Type.Optional(safety),
  mcp: Type.Optional(map({ visibility: Type.Optional(oneOf('everyone', 'addressees')) })),
  guest: held,
  defaults: held,
  participants: Type.Optional(named(ParticipantId, participantId, participant)),
}
const oneSpace = map(space)
export type FileSpace = Static<typeof oneSpace>

/** What is said of all of them together. */
const shared = { version: Type.Literal(1, { description: '1' }), gateway, storage, auth }

export const OneSpaceFile = map({
  ...shared,
  space: Type.String({ ...SpaceName, description: spaceName }),
  ...space,
})
export type FileShared = Pick<Static<typeof OneSpaceFile>, keyof typeof shared>

const inside = refused('belongs in each of the spaces; move it there')
export const SeveralSpacesFile = map({
  ...shared,
  spaces: named(SpaceName, spaceName, oneSpace, 1),
  space: refused('cannot stand beside spaces; keep one of them'),
  retention: inside,
  limits: inside,
  reasoning: inside,
  safety: inside,
  mcp: inside,
  guest: inside,
  defaults: inside,
  participants: inside,
})
