import { isAbsolute, resolve } from 'node:path'
import { type KnownAgent, knownAgents } from '@meup/acp/agents'
import type { ParticipantConfig, SpaceConfig } from '@meup/gateway'
import {
  type Capability,
  defaultLimits,
  defaultRates,
  Kind,
  type Limits,
  omitUndefined,
  resolveSelf,
} from '@meup/protocol'
import { defaultSafety, type SafetySettings } from '@meup/safety'
import { isAddress, parseDuration, parseListen } from './notation.js'
import {
  type FileLimits,
  type FileParticipant,
  type FileSafety,
  type FileShared,
  type FileSpace,
  toRules,
} from './schema.js'
import type { StorageSettings } from './storage.js'

/** The content of `space.yaml`, with defaults and absolute paths. */
export interface Config {
  /** Absolute path of the file. */
  readonly file: string
  /** The folder of the file: contains `.meup`, and is the default `cwd` of programs. */
  readonly directory: string
  readonly gateway: GatewaySettings
  readonly storage: StorageSettings
  readonly auth: AuthSettings
  readonly spaces: readonly SpaceEntry[]
  /** Whether the file has `spaces` instead of `space`; each space then has its own token folder. */
  readonly several: boolean
}

interface GatewaySettings {
  readonly host: string
  /** 0 = any free port. */
  readonly port: number
  readonly origins: readonly string[]
  readonly hosts: readonly string[]
  readonly trustProxy: boolean
}

export interface AuthSettings {
  /** An issuer whose JWTs are accepted in addition to token files. */
  readonly jwt?: {
    readonly issuer: string
    readonly audience: string
    /** URL of the issuer's public keys (JWKS), or the absolute path of a file with them. */
    readonly jwks: string
  }
}

export interface SpaceEntry {
  readonly config: SpaceConfig
  /** Programs to run, by participant id. */
  readonly programs: Readonly<Record<string, Program>>
}

export type Program = McpProgram | RemoteProgram | ProcessProgram | AcpProgram

interface Command {
  /** A name to look up in PATH, or an absolute path. */
  readonly command: string
  readonly args: readonly string[]
  /** Absolute path of the working directory. */
  readonly cwd: string
  /** Variables added to the environment of this process. */
  readonly env: Readonly<Record<string, string>>
}

interface StartLimit {
  /** Milliseconds that the program may take to get ready after its start. */
  readonly startTimeoutMs: number
}

interface CallLimit {
  /** Milliseconds that a call may take without an answer or progress; absent = the default. */
  readonly callMs?: number
}

/** An MCP server over stdio. */
export interface McpProgram extends Command, StartLimit, CallLimit {
  readonly kind: 'mcp'
}

/** An MCP server over HTTP. */
export interface RemoteProgram extends StartLimit, CallLimit {
  readonly kind: 'mcp'
  readonly url: string
  /** HTTP headers of each request; may contain secrets. */
  readonly headers: Readonly<Record<string, string>>
}

/** A program that connects to the space by itself. */
export interface ProcessProgram extends Command {
  readonly kind: 'process'
  readonly restart: 'never' | 'on-failure' | 'always'
  /** Whether `meup up` restarts the program when its files change. */
  readonly watch: boolean
  /** Milliseconds until the program is reported as late; absent = the default. A late program is not stopped. */
  readonly startTimeoutMs?: number
}

/** A coding agent that speaks ACP. */
export interface AcpProgram extends Command, StartLimit {
  readonly kind: 'acp'
  /** The mode of the agent's ACP sessions. */
  readonly mode?: string
  readonly sessions: 'shared' | 'asker'
  /** Reaction to a tool that ran without a permission request and without the capability for it. */
  readonly unasked: 'stop' | 'report'
  /** The agent's npm package, if known, for advice on how to install it. */
  readonly package?: string
}

/** The default is long, because a first start may install packages or pull an image. */
const defaultStartTimeout = '120s'

const defaultCapabilities: readonly Capability[] = [Kind.chat]
/** Default capabilities of an MCP server: results, progress notifications, and elicitations during a call [MEUP-3]. */
const mcpCapabilities: readonly Capability[] = [
  Kind.mcpResponse,
  { kind: Kind.mcpRequest, payload: { method: ['notifications/**', 'elicitation/create'] } },
]

/** Default capabilities of a coding agent: it thinks, answers, and proposes its actions. */
const codingCapabilities: readonly Capability[] = [
  Kind.chat,
  'reasoning.*',
  Kind.mcpProposal,
  Kind.participantStatus,
]

export function toGateway({
  listen = '127.0.0.1:8080',
  origins = [],
  hosts = [],
  trustProxy = false,
}: NonNullable<FileShared['gateway']>): GatewaySettings {
  return { ...parseListen(listen), origins, hosts, trustProxy }
}

export function toAuth({ jwt }: NonNullable<FileShared['auth']>, directory: string): AuthSettings {
  if (jwt === undefined) return {}
  return { jwt: { ...jwt, jwks: isAddress(jwt.jwks) ? jwt.jwks : resolve(directory, jwt.jwks) } }
}

export function toSpaceEntry(name: string, space: FileSpace, directory: string): SpaceEntry {
  const { reasoning: { collaborative = true, abandonAfter = '60s' } = {}, participants = {} } = space
  const usual = space.defaults?.capabilities ?? defaultCapabilities
  const programs = Object.entries(participants).flatMap(([id, participant]) => {
    const program = toProgram(participant, directory)
    return program === undefined ? [] : [[id, program] as const]
  })
  return {
    config: {
      name,
      participants: mapValues(participants, (participant, id) => {
        const { capabilities, ...rest } = toParticipant(participant, usual)
        return { ...rest, capabilities: resolveSelf(capabilities, id, participants) }
      }),
      defaults: { capabilities: usual },
      ...omitUndefined({ frontDesk: space.frontDesk }),
      ...(space.guest && { guest: { capabilities: space.guest.capabilities ?? [] } }),
      limits: toLimits(space.limits ?? {}),
      reasoning: { collaborative, abandonAfterMs: parseDuration(abandonAfter) },
      safety: toSafety(space.safety ?? {}),
      mcp: { visibility: space.mcp?.visibility ?? 'everyone' },
      retention: { days: space.retention?.days ?? 30 },
    },
    programs: Object.fromEntries(programs),
  }
}

function toLimits({ rates, ...sizes }: FileLimits): Limits {
  const { maxResultBytes = defaultLimits.maxResultBytes } = sizes
  const sendBufferBytes = 4 * 1024 * 1024 + 2 * maxResultBytes
  return { ...defaultLimits, sendBufferBytes, ...sizes, rates: { ...defaultRates, ...rates } }
}

const toSafety = (safety: FileSafety): SafetySettings => ({ ...defaultSafety, ...safety, ...toRules(safety) })

const ofPrograms: Readonly<Partial<Record<FileParticipant['kind'], readonly Capability[]>>> = {
  mcp: mcpCapabilities,
  acp: codingCapabilities,
}

function toParticipant(
  { kind, capabilities, limits, programs, description }: FileParticipant,
  usual: readonly Capability[],
): ParticipantConfig {
  const { rates } = limits ?? {}
  return {
    kind,
    capabilities: capabilities ?? ofPrograms[kind] ?? usual,
    ...(rates && { rates }),
    ...(programs && { programs }),
    ...omitUndefined({ description }),
  }
}

function toProgram(participant: FileParticipant, directory: string): Program | undefined {
  if (participant.kind === 'acp') return toCodingAgent(participant, directory)
  if (participant.kind !== 'mcp' && participant.kind !== 'process') return undefined
  const { startTimeout } = participant
  const startTimeoutMs = parseDuration(startTimeout ?? defaultStartTimeout)
  if ('url' in participant) {
    const { url, headers = {} } = participant
    return { kind: 'mcp', url, headers, startTimeoutMs, ...toCallLimit(participant) }
  }
  const { args = [], cwd = '.', env = {} } = participant
  const common = {
    command: toCommand(participant.command, directory),
    args,
    cwd: resolve(directory, cwd),
    env,
  }
  if (participant.kind === 'mcp')
    return { kind: 'mcp', ...common, startTimeoutMs, ...toCallLimit(participant) }
  const { restart = 'on-failure', watch = true, transcript } = participant
  const settings = transcript === undefined ? {} : { MEUP_TRANSCRIPT: transcript }
  return {
    ...{ kind: 'process', ...common, env: { ...env, ...settings }, restart, watch },
    ...(startTimeout !== undefined && { startTimeoutMs }),
  }
}

function toCallLimit({ limits }: Extract<FileParticipant, { kind: 'mcp' }>): CallLimit {
  return limits?.callMs === undefined ? {} : { callMs: limits.callMs }
}

/** Settings that the file omits come from the agent's definition. */
function toCodingAgent(
  participant: Extract<FileParticipant, { kind: 'acp' }>,
  directory: string,
): AcpProgram {
  const { sessions = 'shared', unasked = 'stop', cwd = '.', env = {}, startTimeout } = participant
  const known: KnownAgent | undefined = 'agent' in participant ? knownAgents[participant.agent] : undefined
  const { command = known?.command ?? '', args = known?.args ?? [], mode = known?.mode } = participant
  return {
    kind: 'acp',
    ...{ command: toCommand(command, directory), args, sessions, unasked },
    startTimeoutMs: parseDuration(startTimeout ?? defaultStartTimeout),
    env: { ...known?.env, ...env },
    cwd: resolve(directory, cwd),
    ...omitUndefined({ mode }),
    ...(known !== undefined && { package: known.package }),
  }
}

/** A bare name is looked up in PATH; anything else is a path. */
function toCommand(command: string, directory: string): string {
  return command.includes('/') && !isAbsolute(command) ? resolve(directory, command) : command
}

function mapValues<A, B>(
  values: Readonly<Record<string, A>>,
  change: (value: A, key: string) => B,
): Record<string, B> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, change(value, key)]))
}
