import type { McpRequestPayload, McpResponsePayload } from '@meup/protocol'
import { LOG_LEVEL_META_KEY } from '@modelcontextprotocol/client'
import type { McpRelay } from './relay/relay.js'

/** From least to most severe. */
const levels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']
/** The level of askers without their own, once another asker has set one. */
const usual = levels.indexOf('info')
/** Limit of askers with levels, because guests come and go. */
const maxAskers = 1000
/** The first revision with a level in each request. */
const perRequest = '2026-07-28'

/**
 * Log levels by asker. A server has a single client and level: it gets the most verbose level of all, and each asker gets
 * messages from its own level on.
 */
export class LogLevels {
  readonly #isPerRequest: boolean
  readonly #hasLogs: boolean
  readonly #byAsker = new Map<string, number>()
  /** The level set at the server; `undefined` = its default. */
  #serverLevel: number | undefined

  constructor({ protocolVersion = '', capabilities }: McpRelay['server']) {
    this.#isPerRequest = protocolVersion >= perRequest
    this.#hasLogs = 'logging' in capabilities
  }

  /** Stores the level set by this request. Returns the answer if the server need not be notified. */
  answer(asker: string, { method, params }: McpRequestPayload): McpResponsePayload | undefined {
    const level = levels.indexOf(params?.level as string)
    if (method !== 'logging/setLevel' || level === -1 || !this.#hasLogs) return undefined
    this.#byAsker.delete(asker)
    this.#byAsker.set(asker, level)
    const [earliest = asker] = this.#byAsker.keys()
    if (this.#byAsker.size > maxAskers) this.#byAsker.delete(earliest)
    return this.#isPerRequest || this.#wanted === (this.#serverLevel ?? usual) ? { result: {} } : undefined
  }

  /** The request for the server: with the common level, or the level of this request. */
  prepare(asker: string, request: McpRequestPayload): McpRequestPayload {
    const { method, params } = request
    const own = this.#byAsker.get(asker)
    if (own === undefined) return request
    if (this.#isPerRequest) {
      const _meta = { [LOG_LEVEL_META_KEY]: levels[own], ...Object(params?._meta) }
      return { ...request, params: { ...params, _meta } }
    }
    if (method !== 'logging/setLevel' || levels[own] !== params?.level) return request
    this.#serverLevel = this.#wanted
    return { ...request, params: { ...params, level: levels[this.#serverLevel] } }
  }

  /** Whether an asker wants this notification. */
  isWanted(asker: string, { method, params }: Pick<McpRequestPayload, 'method' | 'params'>): boolean {
    const level = method === 'notifications/message' ? levels.indexOf(params?.level as string) : -1
    return (
      level === -1 || level >= (this.#byAsker.get(asker) ?? (this.#serverLevel === undefined ? 0 : usual))
    )
  }

  get #wanted(): number {
    return Math.min(usual, ...this.#byAsker.values())
  }
}
