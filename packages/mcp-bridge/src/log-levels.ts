import type { McpRequestPayload, McpResponsePayload } from '@meup/protocol'
import { LOG_LEVEL_META_KEY } from '@modelcontextprotocol/client'
import type { McpRelay } from './relay/relay.js'

/** Log levels of MCP, from least to most severe. */
const levels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']
/** The default level of participants that have set none, once another participant has set a level. */
const usual = levels.indexOf('info')
/** Maximum participants whose level is stored; limited because guests come and go. */
const maxAskers = 1000
/** The first MCP revision in which each request contains a log level. */
const perRequest = '2026-07-28'

/**
 * The log levels that participants have set. A server has only one client and thus one level: it gets the most verbose of
 * these, and messages are then filtered for each participant.
 */
export class LogLevels {
  readonly #isPerRequest: boolean
  readonly #hasLogs: boolean
  readonly #byAsker = new Map<string, number>()
  /** The level that was set at the server; `undefined` = none, so its default applies. */
  #serverLevel: number | undefined

  constructor({ protocolVersion = '', capabilities }: McpRelay['server']) {
    this.#isPerRequest = protocolVersion >= perRequest
    this.#hasLogs = 'logging' in capabilities
  }

  /**
   * Stores the level if a request sets it. Returns the response in place of the server if the server's level need not change.
   */
  answer(asker: string, { method, params }: McpRequestPayload): McpResponsePayload | undefined {
    const level = levels.indexOf(params?.level as string)
    if (method !== 'logging/setLevel' || level === -1 || !this.#hasLogs) return undefined
    this.#byAsker.delete(asker)
    this.#byAsker.set(asker, level)
    const [earliest = asker] = this.#byAsker.keys()
    if (this.#byAsker.size > maxAskers) this.#byAsker.delete(earliest)
    return this.#isPerRequest || this.#wanted === (this.#serverLevel ?? usual) ? { result: {} } : undefined
  }

  /** Changes a request for the server: sets the most verbose level, or adds the participant's level to the request. */
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

  /** Whether a participant's level permits this notification. */
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
