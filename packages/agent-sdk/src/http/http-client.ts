import type { AnyEnvelope } from '@meup/protocol'
import { parseExact } from '@meup/protocol'
import { brokenExportError } from '../client/errors.js'
import type { OpenProposal } from '../client/proposal.js'
import type { HttpTarget } from '../client/transport.js'
import { type QueryFields, type RequestOptions, readExportBody, request } from './request.js'
import type {
  AuditPage,
  AuditQuery,
  ContextList,
  ContextNode,
  ErasureReceipt,
  ExchangedLink,
  ExportQuery,
  FreePath,
  Link,
  LogPage,
  LogQuery,
  LogVerification,
  ParticipantList,
  ProposalList,
  SearchPage,
  SearchQuery,
  Turn,
  TurnPage,
  TurnQuery,
  WhyAnswer,
  WhyQuery,
} from './types.js'

/** Maximum envelopes that a gateway returns per page. */
const envelopesPerPage = 1000
const defaultTimeoutMs = 30_000

export interface HttpClientOptions {
  /** Milliseconds for each JSON response; default 30,000; `Infinity` = no limit. */
  readonly timeoutMs?: number
  /**
   * Sends a request for JSON by calling `send`, and may repeat that; default: calls it once. Posts and exports are not retried.
   */
  readonly retry?: <Answer>(send: () => Promise<Answer>) => Promise<Answer>
}

/**
 * Reads a space over HTTP, without being shown as present. Every method rejects with `ProtocolError` if the gateway refuses,
 * and with `ConnectionError` if it is unreachable (`unreachable`), too slow (`timeout`), or the request is aborted (`aborted`).
 * Iterators request pages on demand.
 */
export class HttpClient {
  readonly target: HttpTarget
  readonly #options: Required<HttpClientOptions>

  constructor(
    target: HttpTarget,
    { timeoutMs = defaultTimeoutMs, retry = (send) => send() }: HttpClientOptions = {},
  ) {
    this.target = target
    this.#options = { timeoutMs, retry }
  }

  /** Gets JSON from a path below that of the space, such as `turns`. */
  getJson<Answer>(path: string, query: QueryFields = {}, options: RequestOptions = {}): Promise<Answer> {
    return this.#options.retry(() =>
      this.#request(
        { path, query, ...options },
        async (response) => parseExact(await response.text()) as Answer,
      ),
    )
  }

  /** Posts JSON to a path below that of the space. Not retried. */
  postJson<Answer>(path: string, body?: unknown, options: RequestOptions = {}): Promise<Answer> {
    return this.#request(
      { path, method: 'POST', body, ...options },
      async (response) => parseExact(await response.text()) as Answer,
    )
  }

  /** Reads one page of the log, with the envelopes that this token may read. */
  readLogPage(query: LogQuery = {}, options?: RequestOptions): Promise<LogPage> {
    return this.getJson<LogPage>('envelopes', { limit: envelopesPerPage, ...query }, options)
  }

  /** Iterates over pages of the log, up to its end at the time of the first request. */
  async *readLogPages(query: LogQuery = {}, options?: RequestOptions): AsyncGenerator<LogPage, void> {
    for (let asked = query; ; ) {
      const page = await this.readLogPage(asked, options)
      yield page
      const { next, head } = page
      if (next === undefined) return
      asked =
        query.order === 'desc'
          ? { ...query, before: next }
          : { ...query, after: next, before: asked.before ?? head + 1 }
    }
  }

  /** Iterates over the envelopes of `readLogPages`. */
  async *readLog(query: LogQuery = {}, options?: RequestOptions): AsyncGenerator<AnyEnvelope, void> {
    for await (const { envelopes } of this.readLogPages(query, options)) yield* envelopes
  }

  /**
   * Reads an envelope by its id, a unique prefix of it, or `#seq`. Rejects with `not_found`, or with `invalid_request` if
   * several envelopes match.
   */
  readEnvelope(ref: string, options?: RequestOptions): Promise<AnyEnvelope> {
    return this.getJson<AnyEnvelope>(`envelopes/${encodeURIComponent(ref)}`, {}, options)
  }

  /** Reads the open proposals that this token may read, oldest first. */
  async readProposals(options: RequestOptions = {}): Promise<ProposalList> {
    const proposals: OpenProposal[] = []
    for (let after = 0; ; after = proposals.at(-1)?.seq ?? 0) {
      const query = { after, limit: envelopesPerPage }
      const accept = 'application/x-ndjson'
      const page = await this.#options.retry(() =>
        this.#request({ path: 'proposals', query, accept, ...options }, async (response) => ({
          lines: (await response.text()).split('\n').filter((line) => line !== ''),
          hasMore: response.headers.has('link'),
          epoch: response.headers.get('meup-epoch') ?? '',
          head: Number(response.headers.get('meup-head')),
        })),
      )
      const { lines, hasMore, ...position } = page
      for (const json of lines) proposals.push(parseExact(json) as OpenProposal)
      if (!hasMore) return { proposals, ...position }
    }
  }

  /** Reads the members of the space, with their capabilities. */
  readParticipants(options?: RequestOptions): Promise<ParticipantList> {
    return this.getJson<ParticipantList>('participants', {}, options)
  }

  /** Reads the contexts as a tree, oldest first. */
  readContexts(options?: RequestOptions): Promise<ContextList> {
    return this.getJson<ContextList>('contexts', {}, options)
  }

  /** Reads one context. Rejects with `not_found` if this token may not read any of its envelopes. */
  readContext(context: string, options?: RequestOptions): Promise<ContextNode | FreePath> {
    return this.getJson<ContextNode | FreePath>(`contexts/${encodePath(context)}`, {}, options)
  }

  /** Reads the latest turns of an agent or a thread. Rejects with `not_found` if it is unknown. */
  readTurnPage(thread: string, query: TurnQuery = {}, options?: RequestOptions): Promise<TurnPage> {
    return this.getJson<TurnPage>('turns', { thread_id: this.getThreadId(thread), ...query }, options)
  }

  /** Iterates over all turns of an agent or a thread, newest first. Rejects like `readTurnPage`. */
  async *readTurns(
    thread: string,
    query: TurnQuery = {},
    options?: RequestOptions,
  ): AsyncGenerator<Turn, void> {
    const pages = readPages(
      (before) => this.readTurnPage(thread, { ...query, before }, options),
      query.before,
    )
    for await (const { turns } of pages) yield* turns.toReversed()
  }

  /** Iterates over pages of the audit, which lists the steps of agents. */
  readAuditPages(
    { thread, ...query }: AuditQuery = {},
    options?: RequestOptions,
  ): AsyncGenerator<AuditPage, void> {
    const asked = { ...query, thread_id: thread === undefined ? undefined : this.getThreadId(thread) }
    return readPages(
      (before) => this.getJson<AuditPage>('audit', { ...asked, before }, options),
      query.before,
    )
  }

  /** Iterates over pages of matching envelopes, newest first. For each page the gateway searches a limited part of the log. */
  search(query: SearchQuery = {}, options?: RequestOptions): AsyncGenerator<SearchPage, void> {
    return readPages(
      (before) => this.getJson<SearchPage>('search', { ...query, before }, options),
      query.before,
    )
  }

  /**
   * Reads the ranked steps that led to an envelope, given by id or seq. Rejects with `not_found` if this token may not read it.
   */
  why(ref: string | number, query: WhyQuery = {}, options?: RequestOptions): Promise<WhyAnswer> {
    return this.getJson<WhyAnswer>(`why/${encodeURIComponent(ref)}`, { ...query }, options)
  }

  /**
   * Has the gateway verify the hash chain of the log. That takes time proportional to the log's length, so there is no timeout.
   */
  verifyLog(options?: RequestOptions): Promise<LogVerification> {
    return this.getJson<LogVerification>(
      'audit/verify',
      {},
      { timeoutMs: Number.POSITIVE_INFINITY, ...options },
    )
  }

  /** Permanently removes the body of an envelope; requires the capability `space.erase`. */
  erase(seq: number, reason: string): Promise<ErasureReceipt> {
    return this.postJson<ErasureReceipt>('audit/erase', { seq, reason })
  }

  /**
   * Opens an export, which arrives in chunks; without a timeout. Iterating rejects with `ConnectionError` `closed` if the
   * export ends early.
   */
  async openExport(
    { format, after, thread, turn, context, limit }: ExportQuery = {},
    { signal }: Pick<RequestOptions, 'signal'> = {},
  ): Promise<AsyncIterable<Uint8Array>> {
    const path = context === undefined ? 'audit/export' : `contexts/${encodePath(context)}`
    const thread_id = thread === undefined ? undefined : this.getThreadId(thread)
    const query = { format, after, thread_id, turn, limit }
    const { body } = await this.#request(
      { path, query, timeoutMs: Number.POSITIVE_INFINITY, ...(signal && { signal }) },
      (response) => response,
    )
    if (body === null) throw brokenExportError()
    return readExportBody(body, signal)
  }

  /** Creates a one-time code for the token of this client [MEUP-11.13]. */
  createLink(): Promise<Link> {
    return this.postJson<Link>('links')
  }

  /**
   * Returns the id of an agent's thread, `space/agent`, under which its turns are listed. An id of a thread is returned
   * unchanged.
   */
  getThreadId(agent: string): string {
    return agent.includes('/') ? agent : `${this.target.space}/${agent}`
  }

  #request<Answer>(
    { path, ...rest }: Omit<Parameters<typeof request>[0], 'url' | 'token' | 'fetch'>,
    read: (response: Response) => Answer | Promise<Answer>,
  ): Promise<Answer> {
    const { url, space, token, fetch } = this.target
    const { timeoutMs } = this.#options
    return request(
      { timeoutMs, ...rest, url, token, fetch, path: `spaces/${encodeURIComponent(space)}/${path}` },
      read,
    )
  }
}

const encodePath = (path: string): string => path.split('/').map(encodeURIComponent).join('/')

/** Iterates over pages; `next` of a page is the `before` of the next one. */
async function* readPages<Page extends { readonly next?: number }>(
  getPage: (before: number | undefined) => Promise<Page>,
  before: number | undefined,
): AsyncGenerator<Page, void> {
  let next = before
  do {
    const page = await getPage(next)
    yield page
    next = page.next
  } while (next !== undefined)
}

/** Lists the spaces that a token is valid for, or that admit guests [MEUP-11.14]. Rejects like the methods of `HttpClient`. */
export const listSpaces = (url: string, token?: string): Promise<readonly string[]> =>
  request({ url, path: 'spaces', token }, async (response) => {
    const { spaces } = (await response.json()) as { spaces: readonly string[] }
    return spaces
  })

/** Exchanges a one-time code for the token that it was created for [MEUP-11.13]. Rejects like the methods of `HttpClient`. */
export const exchangeLink = (url: string, code: string): Promise<ExchangedLink> =>
  request({ url, path: 'links/exchange', token: code, method: 'POST' }, async (response) => {
    return (await response.json()) as ExchangedLink
  })
