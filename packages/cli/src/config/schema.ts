import { type AgentName, knownAgents } from '@meup/acp/agents'
import {
  type Capability,
  compileCapabilities,
  ParticipantId,
  PatternError,
  type RateClass,
  SpaceName,
} from '@meup/protocol'
import { compileSafety, defaultSafety, SafetyError, type SafetySettings } from '@meup/safety'
import { type Static, type TProperties, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { addressPattern, durationPattern, headerPattern, keysPattern, listenPattern } from './notation.js'
import {
  atLeast,
  byKind,
  checked,
  flag,
  list,
  map,
  named,
  oneOf,
  type ProblemInside,
  refusedKey,
  text,
  word,
} from './shapes.js'
import { storage } from './storage.js'

/** An interface, so that types inferred from the schemas can refer to it by name. */
interface CapabilityList extends ReadonlyArray<Capability> {}

/** Mistakes in a list of capabilities: of single capabilities, or, if they are valid, of the list as a whole. */
function capabilityProblems(value: unknown): ProblemInside[] {
  if (!Array.isArray(value)) return [{ pointer: '', message: 'must be a list' }]
  const each = value.flatMap((capability: Capability, i) =>
    compileCapabilityList([capability]).map(({ pointer, message }) => ({
      pointer: pointer.replace('/0', `/${i}`),
      message,
    })),
  )
  return each.length > 0 ? each : compileCapabilityList(value)
}

function compileCapabilityList(list: readonly Capability[]): ProblemInside[] {
  try {
    compileCapabilities(list)
    return []
  } catch (error) {
    if (!(error instanceof PatternError)) throw error
    return [{ pointer: error.path, message: error.problem }]
  }
}

/** Mistakes in rules: of single rules, or, if they are valid, of the rules as a whole. */
function safetyProblems({ rules, policy }: Pick<SafetySettings, 'rules' | 'policy'>): ProblemInside[] {
  const each = [
    ...rules.flatMap((rule, index) => inOne({ rules: [rule] }, `/rules/${index}`)),
    ...policy.flatMap((rule, index) => inOne({ policy: [rule] }, `/policy/${index}`)),
  ]
  return each.length > 0 ? each : compileRules({ rules, policy })
}

const inOne = (settings: Partial<SafetySettings>, pointer: string): ProblemInside[] =>
  compileRules(settings).map((problem) => ({
    ...problem,
    pointer: problem.pointer.replace(/^\/\w+\/0/, pointer),
  }))

function compileRules(settings: Partial<SafetySettings>): ProblemInside[] {
  try {
    compileSafety({ ...defaultSafety, ...settings })
    return []
  } catch (error) {
    if (!(error instanceof SafetyError)) throw error
    return [{ pointer: error.path, message: error.message }]
  }
}

const capabilities = checked<CapabilityList>('meup.capabilities', capabilityProblems)

const name = Type.String({
  pattern: '^[a-z0-9-]{1,64}$',
  description: 'a name: up to 64 lower-case letters, digits and -',
})
const rule = map({
  name,
  pattern: word,
  keywords: Type.Optional(list(word)),
  action: Type.Optional(oneOf('mask', 'block')),
})
const policy = map({ name, pattern: word, action: oneOf('allow', 'sanitize', 'review', 'block') })

const shape = map({
  onLeak: Type.Optional(oneOf('mask', 'block')),
  maxLength: Type.Optional(atLeast(1)),
  policy: Type.Optional(list(policy)),
  rules: Type.Optional(list(rule)),
})
export type FileSafety = Static<typeof shape>

/** Rules are compiled only if they have the right shape. */
const usable = checked('meup.safety', (value) =>
  Value.Check(shape, value) ? safetyProblems(toRules(value)) : [],
)
const safety = Type.Intersect([shape, usable])

/** Fills in the defaults of safety settings: without an action, a rule masks. */
export const toRules = ({
  rules = [],
  policy = [],
}: FileSafety): Pick<SafetySettings, 'rules' | 'policy'> => ({
  rules: rules.map((each) => ({ action: 'mask', ...each })),
  policy,
})

const listen = Type.String({
  pattern: listenPattern,
  description: 'HOST:PORT, such as 127.0.0.1:8080 or "[::1]:8080"',
})
/** Must equal the `Origin` header of browsers. */
const origin = Type.String({
  pattern: '^[a-z][a-z0-9+.-]*://[^/\\sA-Z]+$',
  description: 'an origin in lower case and without a path, such as https://app.example',
})
const hostName = Type.String({
  pattern: '^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$',
  description: 'the name of a host in lower case, without a port, such as box.example',
})
const gateway = Type.Optional(
  map({
    listen: Type.Optional(listen),
    origins: Type.Optional(list(origin)),
    hosts: Type.Optional(list(hostName)),
    trustProxy: Type.Optional(flag),
  }),
)

const keys = Type.String({
  pattern: keysPattern,
  description: 'an https address (http on this machine alone), or the path of a file',
})
const auth = Type.Optional(map({ jwt: Type.Optional(map({ issuer: word, audience: word, jwks: keys })) }))

const rate = Type.Optional(
  map({
    perSecond: Type.Number({ exclusiveMinimum: 0, description: 'a number above 0' }),
    burst: Type.Number({ minimum: 1, description: 'a number, 1 or more' }),
  }),
)
const classes = {
  reasoning: rate,
  chat: rate,
  deltas: rate,
  mcp: rate,
  control: rate,
  other: rate,
  bytes: rate,
  results: rate,
  work: rate,
  frames: rate,
  log: rate,
}
const rates = map(classes satisfies Record<RateClass, TProperties[string]>)

const duration = Type.String({
  pattern: durationPattern,
  description: 'a duration of some days at most, such as 500ms, 60s, 5m or 2h',
})

const description = Type.String({
  minLength: 1,
  maxLength: 1000,
  description: 'a text of up to 1000 characters',
})

const common = {
  capabilities: Type.Optional(capabilities),
  limits: Type.Optional(map({ rates: Type.Optional(rates) })),
  programs: Type.Optional(oneOf('one', 'many')),
  description: Type.Optional(description),
}

/** Keys of every participant that `meup up` starts. */
const started = { startTimeout: Type.Optional(duration) }

const variable = Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]*$' })
const program = {
  ...started,
  command: word,
  args: Type.Optional(list(text)),
  cwd: Type.Optional(word),
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

const agentNames = Object.keys(knownAgents) as AgentName[]

const codingAgent = {
  kind: oneOf('acp'),
  ...common,
  ...program,
  mode: Type.Optional(word),
  sessions: Type.Optional(oneOf('shared', 'asker')),
  unasked: Type.Optional(oneOf('stop', 'report')),
}

/** Limits of an MCP server: `rates`, which other participants have too, and `callMs`, the time that a call may take. */
const serverLimits = {
  limits: Type.Optional(map({ rates: Type.Optional(rates), callMs: Type.Optional(atLeast(1)) })),
}

const participant = byKind('one of human, agent, mcp, process, acp', [
  map({ kind: oneOf('human', 'agent'), ...common }),
  map({
    kind: oneOf('mcp'),
    ...common,
    ...serverLimits,
    ...program,
    command: orUrl,
    url: refusedKey('excludes command; keep one of them'),
    headers: refusedKey('goes with a url; give a command its secrets in env'),
  }),
  map({
    kind: oneOf('mcp'),
    ...common,
    ...serverLimits,
    ...started,
    url,
    headers: Type.Optional(headers),
    command: refusedKey('excludes url; keep one of them'),
    args: refusedKey('goes with a command; a url has none'),
    cwd: refusedKey('goes with a command; a url has none'),
    env: refusedKey('goes with a command; give a url its secrets in headers'),
  }),
  map({
    kind: oneOf('process'),
    ...common,
    ...program,
    restart: Type.Optional(oneOf('never', 'on-failure', 'always')),
    watch: Type.Optional(flag),
    transcript: Type.Optional(oneOf('on', 'full', 'off')),
  }),
  map({
    ...codingAgent,
    command: Type.String({
      ...word,
      description: `${word.description}; or name one that is known, by agent: ${agentNames.join(' | ')}`,
    }),
  }),
  map({ ...codingAgent, command: Type.Optional(word), agent: oneOf(...agentNames) }),
])
export type FileParticipant = Static<typeof participant>

const spaceName = 'a name: up to 63 lower-case letters, digits and -, not beginning with -'
const participantId = 'an id: up to 64 letters, digits and . _ -, beginning with a letter or digit'

const positiveInteger = Type.Optional(atLeast(1))
const limits = map({
  maxEnvelopeBytes: positiveInteger,
  maxResultBytes: positiveInteger,
  work: positiveInteger,
  sendBufferBytes: positiveInteger,
  contextDepth: positiveInteger,
  contextLength: positiveInteger,
  connectionsPerParticipant: positiveInteger,
  agentHops: positiveInteger,
  rates: Type.Optional(rates),
})
export type FileLimits = Static<typeof limits>

const capabilityHolder = Type.Optional(map({ capabilities: Type.Optional(capabilities) }))

/** Settings of one space. */
const space = {
  retention: Type.Optional(map({ days: Type.Optional(atLeast(0)) })),
  limits: Type.Optional(limits),
  reasoning: Type.Optional(
    map({ collaborative: Type.Optional(flag), abandonAfter: Type.Optional(duration) }),
  ),
  safety: Type.Optional(safety),
  mcp: Type.Optional(map({ visibility: Type.Optional(oneOf('everyone', 'addressees')) })),
  guest: capabilityHolder,
  defaults: capabilityHolder,
  frontDesk: Type.Optional(word),
  participants: Type.Optional(named(ParticipantId, participantId, participant)),
}
const oneSpace = map(space)
export type FileSpace = Static<typeof oneSpace>

/** Settings shared by all spaces. */
const shared = {
  version: Type.Literal(1, { description: '1' }),
  gateway,
  storage: Type.Optional(storage),
  auth,
}

export const OneSpaceFile = map({
  ...shared,
  space: Type.String({ ...SpaceName, description: spaceName }),
  ...space,
})
export type FileShared = Pick<Static<typeof OneSpaceFile>, keyof typeof shared>

const perSpaceOnly = refusedKey('belongs in each of the spaces; move it there')
export const SeveralSpacesFile = map({
  ...shared,
  spaces: named(SpaceName, spaceName, oneSpace, 1),
  space: refusedKey('excludes spaces; keep one of them'),
  retention: perSpaceOnly,
  limits: perSpaceOnly,
  reasoning: perSpaceOnly,
  safety: perSpaceOnly,
  mcp: perSpaceOnly,
  guest: perSpaceOnly,
  defaults: perSpaceOnly,
  frontDesk: perSpaceOnly,
  participants: perSpaceOnly,
})
