import type { Context } from 'hono'
import { type Refusal, refuse } from '../core/refusal.js'
import { texts } from '../core/refusal-texts.js'
import type { Caller } from '../host/gateway.js'

/** Concurrent requests of a rateLimitKey, and of an address before authentication. */
const [maxRequestsPerKey, maxRequestsPerAddress] = [16, 64]
/** Bytes of request bodies of a rateLimitKey in memory at once. */
export const maxBodyBytes = 16 * 1024 * 1024
/**
 * Maximum number of large responses of a rateLimitKey that are created at once, each up to about 8 MiB; other requests wait.
 */
const maxConcurrentAnswers = 2
/** The `retry-after` of refusals [milliseconds]. */
const retryAfterMs = 1000

/** The requests under way of one rateLimitKey. */
interface Account {
  readonly rateLimitKey: string
  requests: number
  bodyBytes: number
  answers: number
  /** Callbacks that let waiting requests create their large responses; the longest waiting first. */
  readonly waiting: Set<() => void>
}

/** A request, until it is answered or disconnected. */
interface Exchange {
  account: Account
  /** Set once the request is authenticated. */
  caller?: Caller
  bodyBytes: number
  hasTurn: boolean
  /** Stops waiting to create a large response, because the client has disconnected. */
  giveUp?: () => void
}

/**
 * Limits the HTTP requests under way, by rateLimitKey: a participant of a space, or an address for guests and for requests that
 * are not authenticated yet. Bounds the memory that slow requests and unread answers hold.
 */
export class Traffic {
  readonly #accounts = new Map<string, Account>()
  readonly #exchanges = new WeakMap<Context, Exchange>()

  /** Counts a request from an address. The caller must call `leave` as well. */
  arrive(context: Context, address: string): Refusal | undefined {
    const account = this.#getAccountKey(`address ${address}`)
    if (account.requests >= maxRequestsPerAddress) return tooMany(address, maxRequestsPerAddress)
    account.requests++
    this.#exchanges.set(context, { account, bodyBytes: 0, hasTurn: false })
    return undefined
  }

  /** Moves a request from its address to its authenticated caller. Refuses callers in debt of the rate `frames`. */
  know(context: Context, caller: Caller): Refusal | undefined {
    const exchange = this.#exchanges.get(context)
    if (exchange === undefined) return undefined
    const { rates, clock } = caller.space
    const waitMs = rates.wait(caller.rateLimitKey, 'frames', clock.now())
    if (waitMs > 0) return refuse('rate_limited', texts.owedFrames, { ms: waitMs }, { retryAfterMs: waitMs })
    exchange.caller = caller
    const rateLimitKey = getAccountKey(caller)
    if (exchange.account.rateLimitKey === rateLimitKey) return undefined
    const account = this.#getAccountKey(rateLimitKey)
    if (account.requests >= maxRequestsPerKey) return tooMany(rateLimitKey, maxRequestsPerKey)
    account.requests++
    this.#settle(exchange.account)
    exchange.account = account
    return undefined
  }

  /** Charges a refused request to its sender's rate `frames`, like a refused envelope [MEUP-7.7]. */
  charge(context: Context): void {
    const { caller } = this.#exchanges.get(context) ?? {}
    const { status } = context.res
    if (caller === undefined || status < 400 || status === 429 || status >= 500) return
    caller.space.rates.charge(caller.rateLimitKey, 'frames', 1, caller.space.clock.now())
  }

  /** Reserves memory for the bytes of a body. */
  reserve(context: Context, bytes: number): Refusal | undefined {
    const exchange = this.#exchanges.get(context)
    if (exchange === undefined) return undefined
    const { account } = exchange
    if (account.bodyBytes + bytes > maxBodyBytes)
      return refuse('rate_limited', texts.manyBodies, { bytes: maxBodyBytes }, { retryAfterMs })
    account.bodyBytes += bytes
    exchange.bodyBytes += bytes
    return undefined
  }

  /**
   * Waits while `maxConcurrentAnswers` large responses of the same account are being created. Resolves to `false` if the client
   * has disconnected.
   */
  async turn(context: Context): Promise<boolean> {
    const exchange = this.#exchanges.get(context)
    if (exchange === undefined) return false
    const { account } = exchange
    if (account.answers < maxConcurrentAnswers) {
      account.answers++
      exchange.hasTurn = true
    } else {
      await new Promise<void>((resolve) => {
        const begin = (): void => {
          exchange.hasTurn = true
          resolve()
        }
        account.waiting.add(begin)
        exchange.giveUp = () => {
          account.waiting.delete(begin)
          resolve()
        }
      })
    }
    return exchange.hasTurn
  }

  /** Whether the client still waits for the answer. */
  isUnderWay(context: Context): boolean {
    return this.#exchanges.has(context)
  }

  /** Ends a request. An event stream continues as a connection. */
  leave(context: Context): void {
    const exchange = this.#exchanges.get(context)
    if (exchange === undefined) return
    this.#exchanges.delete(context)
    const { account, bodyBytes, hasTurn, giveUp } = exchange
    account.bodyBytes -= bodyBytes
    if (hasTurn) passTurn(account)
    else giveUp?.()
    this.#settle(account)
  }

  #getAccountKey(rateLimitKey: string): Account {
    const known = this.#accounts.get(rateLimitKey)
    if (known !== undefined) return known
    const account = { rateLimitKey, requests: 0, bodyBytes: 0, answers: 0, waiting: new Set<() => void>() }
    this.#accounts.set(rateLimitKey, account)
    return account
  }

  #settle(account: Account): void {
    if (--account.requests === 0) this.#accounts.delete(account.rateLimitKey)
  }
}

/** Lets the longest waiting request create its large response. */
function passTurn(account: Account): void {
  const [next] = account.waiting
  if (next === undefined) {
    account.answers--
    return
  }
  account.waiting.delete(next)
  next()
}

const tooMany = (who: string, maxRequests: number): Refusal =>
  refuse('rate_limited', texts.manyRequests, { account: who, requests: maxRequests }, { retryAfterMs })

/** Guests of one address share an account, over all spaces. */
const getAccountKey = ({ participant, rateLimitKey, space }: Caller): string =>
  rateLimitKey === participant ? `${participant} of ${space.config.name}` : rateLimitKey
