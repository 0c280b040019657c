import type { McpRequestPayload, McpResponsePayload } from '@meup/protocol'
import { LOG_LEVEL_META_KEY } from '@modelcontextprotocol/client'
import type { McpRelay } from './relay/relay.js'

/** The least severe first. */
const levels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']
/** What those get who have set no level, once somebody else has. */
const usual = levels.indexOf('info')
/** Askers whose levels are kept: guests come and go. */
const maxAskers = 1000
/** The first revision in which each request says its level. */
const perRequest = '2026-07-28'

/**
 * Log levels by asker. A server knows one client, and so one level: it is told the most verbose of all, and each asker gets the
 * messages from its own level on.
 */
export class LogLevels {
  readonly #isPerRequest: boolean
  readonly #hasLogs: boolean
  readonly #byAsker = new Map<string, number>()
  /** The level that the server has; `undefined`: its own. */
  #serverLevel: number | undefined

  constructor({ protocolVersion = '', capabilities }: McpRelay['server']) {
    this.#isPerRequest = protocolVersion >= perRequest
    this.#hasLogs = 'logging' in capabilities
  }

  /** Keeps the level that is set by this request. Returns the answer, if the server has nothing to be told. */
  answer(asker: string, { method, params }: McpRequestPayload): McpResponsePayload | undefined {
    const level = levels.indexOf(params?.level as string)
    if (method !== 'logging/setLevel' || level === -1 || !this.#hasLogs) return undefined
    this.#byAsker.delete(asker)
    this.#byAsker.set(asker, level)
    const [earliest = asker] = this.#byAsker.keys()
    if (this.#byAsker.size > maxAskers) this.#byAsker.delete(earliest)
    return this.#isPerRequest || this.#wanted === (this.#serverLevel ?? usual) ? { result: {} } : undefined
  }

  /** The request as the server gets it: with the level for all, or for this one. */
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

  /** Whether an asker gets this notification. */
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
