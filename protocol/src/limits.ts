/** A token bucket: tokens per second, and its burst. */
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
  /** Maximum bytes of a frame, except responses. */
  readonly maxEnvelopeBytes: number
  /** Maximum bytes of an `mcp.response`; a larger frame closes its connection with 1009 [MEUP-1.5]. */
  readonly maxResultBytes: number
  /** Units of work, of about a microsecond, to decide on one envelope [MEUP-7.1]. */
  readonly work: number
  /** Unsent bytes of one connection before it is closed with 4410. Default: 4 MiB plus two of the largest responses. */
  readonly sendBufferBytes: number
  /** Segments in a context. */
  readonly contextDepth: number
  /** Characters in a context. */
  readonly contextLength: number
  readonly connectionsPerParticipant: number
  /** Chats from agent to agent without a human's chat or a tool result in between [MEUP-7.4]. */
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

/** The widest limits of contexts in any space. */
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
/** Open contexts of one participant, of all guests, and of a space [MEUP-2.11]; every welcome lists them. */
export const openContexts = { own: 256, guests: 2048, all: 4096 } as const
/**
 * Characters of granted capabilities as JSON: in one list and to one participant [MEUP-4.8], by one, and in a space
 * [MEUP-4.19]. Lists are compared, and every welcome contains them.
 */
export const givenText = { list: 8 * 1024, own: 128 * 1024, all: 512 * 1024 } as const
/** Standing grants of one grantor, and in a space [MEUP-4.19]. */
export const standingGrants = { own: 256, all: 1000 } as const
