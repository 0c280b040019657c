/** Token bucket: tokens per second, and how many may be saved up. */
export interface Rate {
  readonly perSecond: number
  readonly burst: number
}

/**
 * Classes of kinds with a bucket each (`deltas`: what is relayed and not logged), and those for all of them together [MEUP-7.1]: `bytes`; `results`, the bytes of
 * responses over `maxEnvelopeBytes`; `work`, units of what envelopes cost to decide; `frames`, what is refused, malformed
 * or repeated, and pings; `log`, the bytes that are appended to the log.
 */
/** Participants that one chat mentions. */
export const maxMentions = 16

export const rateClasses = [
  'reasoning',
  'chat',
  'deltas',
  'mcp',
  'control',
  'other',
  'bytes',
  'results',
  'work',
  'frames',
  'log',
] as const
export type RateClass = (typeof rateClasses)[number]

export const defaultRates: Readonly<Record<RateClass, Rate>> = {
  reasoning: { perSecond: 50, burst: 100 },
  chat: { perSecond: 10, burst: 30 },
  deltas: { perSecond: 50, burst: 50 },
  mcp: { perSecond: 50, burst: 100 },
  control: { perSecond: 10, burst: 20 },
  other: { perSecond: 50, burst: 100 },
  bytes: { perSecond: 1024 * 1024, burst: 2 * 1024 * 1024 },
  results: { perSecond: 4 * 1024 * 1024, burst: 16 * 1024 * 1024 },
  work: { perSecond: 100_000, burst: 200_000 },
  frames: { perSecond: 200, burst: 1_000 },
  log: { perSecond: Math.ceil(1024 ** 3 / 86_400), burst: 1024 ** 3 },
}

export interface Limits {
  /** Largest accepted frame in bytes, but for responses. */
  readonly maxEnvelopeBytes: number
  /** Largest `mcp.response` in bytes; whatever is larger closes its connection 1009 [MEUP-1.5]. */
  readonly maxResultBytes: number
  /** Units of work that one envelope may cost to decide [MEUP-7.1]: about a microsecond each. */
  readonly work: number
  /** Bytes that may wait for one connection before it is closed 4410. By default 4 MiB and two of the largest responses. */
  readonly sendBufferBytes: number
  /** Segments in a context. */
  readonly contextDepth: number
  /** Characters in a context. */
  readonly contextLength: number
  readonly connectionsPerParticipant: number
  /** Chats from agent to agent with neither a human's chat nor a tool's result between [MEUP-7.4]. */
  readonly agentHops: number
  readonly rates: Readonly<Record<RateClass, Rate>>
}

export const defaultLimits: Limits = {
  maxEnvelopeBytes: 256 * 1024,
  maxResultBytes: 4 * 1024 * 1024,
  work: 20_000,
  sendBufferBytes: 12 * 1024 * 1024,
  contextDepth: 5,
  contextLength: 255,
  connectionsPerParticipant: 8,
  agentHops: 32,
  rates: defaultRates,
}

/** Of a context in whichever space, for those who do not know what theirs allows. */
export const anyContext: Pick<Limits, 'contextDepth' | 'contextLength'> = {
  contextDepth: 64,
  contextLength: 4096,
}

/** Nesting of JSON values in a frame [MEUP-1.8]. */
export const maxNesting = 32
/** Ids in one `correlationId` [MEUP-1.1]. */
export const maxCorrelations = 16
/** Envelopes in one HTTP post [MEUP-11.2]. */
export const maxPost = 500
/** Contexts that are open at once: of one participant, of all guests, and of a space [MEUP-2.11]. Every welcome tells of them. */
export const openContexts = { own: 256, guests: 2048, all: 4096 } as const
/**
 * Characters of JSON of capabilities that were given: in one list and to one participant [MEUP-4.8], by one, and in a
 * space [MEUP-4.19]. Lists are compared, and every welcome tells of them.
 */
export const givenText = { list: 8 * 1024, own: 128 * 1024, all: 512 * 1024 } as const
/** Grants that stand: of one grantor, and in a space [MEUP-4.19]. */
export const standingGrants = { own: 256, all: 1000 } as const
