/** A token bucket: the tokens that it gains per second, and the maximum that it holds. */
export interface Rate {
  readonly perSecond: number
  readonly burst: number
}

/** Maximum number of participants that one chat mentions. */
export const maxMentions = 16

/**
 * Classes of token buckets [MEUP-7.1]. `reasoning` to `control`: kinds of envelopes (`deltas`: kinds that are relayed and not
 * logged). The other classes count all kinds together. `bytes`: bytes of frames; `results`: bytes of responses over
 * `maxEnvelopeBytes`; `work`: units of work to decide on envelopes; `frames`: refused, malformed or repeated frames, and pings;
 * `log`: bytes that are appended to the log.
 */
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
  /** Maximum units of work (of about a microsecond) to decide on one envelope [MEUP-7.1]. */
  readonly work: number
  /** Unsent bytes of one connection, beyond which it is closed with 4410. Default: 4 MiB plus two of the largest responses. */
  readonly sendBufferBytes: number
  /** Maximum segments of a context. */
  readonly contextDepth: number
  /** Maximum characters of a context. */
  readonly contextLength: number
  readonly connectionsPerParticipant: number
  /** Maximum number of chats from agent to agent without a human's chat or a tool result in between [MEUP-7.4]. */
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

/** Limits of contexts that no space exceeds, for clients that do not know the limits of their space. */
export const anyContext: Pick<Limits, 'contextDepth' | 'contextLength'> = {
  contextDepth: 64,
  contextLength: 4096,
}

/** Maximum nesting of JSON values in a frame [MEUP-1.8]. */
export const maxNesting = 32
/** Maximum number of ids in one `correlationId` [MEUP-1.1]. */
export const maxCorrelations = 16
/** Maximum number of envelopes in one HTTP post [MEUP-11.2]. */
export const maxPost = 500
/** Maximum number of open contexts: of one participant, of all guests, and of a space [MEUP-2.11]. Every welcome lists them. */
export const openContexts = { own: 256, guests: 2048, all: 4096 } as const
/**
 * Maximum characters of granted capabilities as JSON: in one list and to one participant [MEUP-4.8], by one participant, and in
 * a space [MEUP-4.19]. Bounded, because lists are compared, and every welcome contains them.
 */
export const givenText = { list: 8 * 1024, own: 128 * 1024, all: 512 * 1024 } as const
/** Maximum number of grants in force: of one grantor, and in a space [MEUP-4.19]. */
export const standingGrants = { own: 256, all: 1000 } as const
