/** Token bucket: tokens per second, and how many may be saved up. */
export interface Rate {
  readonly perSecond: number
  readonly burst: number
}

/** Classes of kinds with a bucket each, and `bytes` for all of them together [MEUP-7.1]. */
export const rateClasses = ['reasoning', 'chat', 'mcp', 'control', 'other', 'bytes'] as const
export type RateClass = (typeof rateClasses)[number]

export const defaultRates: Readonly<Record<RateClass, Rate>> = {
  reasoning: { perSecond: 50, burst: 100 },
  chat: { perSecond: 10, burst: 30 },
  mcp: { perSecond: 50, burst: 100 },
  control: { perSecond: 10, burst: 20 },
  other: { perSecond: 50, burst: 100 },
  bytes: { perSecond: 1024 * 1024, burst: 2 * 1024 * 1024 },
}

export interface Limits {
  /** Largest accepted frame in bytes; up to four times that is refused without closing. */
  readonly maxEnvelopeBytes: number
  /** Bytes that may wait for one connection before it is closed 4410. */
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
  sendBufferBytes: 4 * 1024 * 1024,
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
/** Envelopes in one HTTP post [MEUP-11.2]. */
export const maxPost = 500
/** Contexts that are open at once: of one participant, of all guests, and of a space [MEUP-2.11]. Every welcome tells of them. */
export const openContexts = { own: 256, guests: 2048, all: 4096 } as const
/**
 * Characters of JSON of capabilities that were given: in one list and to one participant [MEUP-4.8], by one, and in a
 * space [MEUP-4.19]. Lists are compared, and every welcome tells of them.
 */
export const givenText = { list: 8 * 1024, own: 128 * 1024, all: 512 * 1024 } as const
