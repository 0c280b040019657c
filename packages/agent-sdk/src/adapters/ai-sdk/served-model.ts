import type { ThinkingLevel } from '../../client/types.js'
import type { AgentModel, ModelOptions, ModelSettings } from '../../model/options.js'
import { listCredentials } from '../credentials.js'
import { Liveness } from './liveness.js'
import { adaptTerms, type Refused, type Terms, usualTerms } from './refusals.js'

/**
 * A model at its server, with its terms: the features of requests that it accepts, as learned from refusals. Shared by all
 * conversations of an agent.
 */
export class ServedModel {
  readonly name: string
  /** The provider in readable form: `anthropic`, or the address of a server. */
  readonly provider: string
  /** The id of the provider in `ai`, such as `openai.responses`. */
  readonly kind: string
  readonly baseURL: string | undefined
  /** Whether the model's reasoning arrives as a summary for readers, rather than raw. */
  readonly isSummary: boolean
  /** Credentials that messages must not quote. */
  readonly credentials: readonly string[]
  readonly liveness: Liveness
  readonly #options: ModelOptions
  /** The model for the `ai` package. */
  readonly model: AgentModel
  #terms: Terms
  /** After a failure, other models are preferred until this time, in milliseconds since 1970. */
  restsUntil = 0

  /** `reach`: creates the model for the `ai` package, unless the options contain one. */
  constructor(options: ModelOptions, reach?: (getTerms: () => Terms) => AgentModel) {
    const { model, baseURL, reasoningIsSummary, replayReasoning } = options
    this.#options = options
    this.liveness = new Liveness(options)
    this.model = reach?.(() => this.#terms) ?? model
    this.kind = getProvider(this.model)
    this.name = typeof model === 'string' ? model : model.modelId
    this.baseURL = baseURL === undefined ? undefined : withoutKeys(baseURL)
    this.provider = this.baseURL ?? this.kind.split('.')[0] ?? this.kind
    this.isSummary = reasoningIsSummary ?? writesSummaries(this.kind)
    this.credentials = listCredentials(options)
    this.#terms = {
      ...usualTerms,
      returnsReasoning: replayReasoning ?? (wantsReasoningBack(this.kind) || isReplayerAt(this.baseURL)),
    }
  }

  /** Name and server for people: `gpt-5 of openai`, `qwen3 at http://127.0.0.1:11434/v1`. */
  get title(): string {
    // The AI Gateway's model names include the provider.
    if (this.name.startsWith(`${this.provider}/`)) return this.name
    return `${this.name} ${this.baseURL === undefined ? 'of' : 'at'} ${this.provider}`
  }

  get terms(): Terms {
    return this.#terms
  }

  /** Settings that are sent with each request. */
  getSettings(level: ThinkingLevel | undefined): ModelSettings {
    const { settings } = this.#options
    const own = settings?.providerOptions
    const isAsked = level !== 'off' && this.#terms.asksReasoning
    const providerOptions = isAsked ? askForReasoning(this.kind, this.name, own) : (own ?? {})
    return { ...settings, providerOptions }
  }

  /** The thinking level as the `reasoning` option of `ai`. */
  getEffort(level: ThinkingLevel | undefined): Effort | undefined {
    return level === undefined || !this.#terms.takesEffort ? undefined : efforts[level]
  }

  takes(mediaType: string): boolean {
    return this.#options.showMedia ?? takesInResults(this.kind, mediaType)
  }

  /**
   * Changes which features further requests have, after the refusal of one. Returns false if nothing is left to change, so that
   * a retry would be refused too.
   */
  adapt(refused: Refused): boolean {
    const { returnsReasoning = this.#terms.returnsReasoning, ...changed } = adaptTerms(refused) ?? {}
    const isFree = this.#options.replayReasoning === undefined
    const isChanged = Object.keys(changed).length > 0
    if (!isChanged && (!isFree || returnsReasoning === refused.terms.returnsReasoning)) return false
    // Another conversation may have lowered the limit since this request was sent.
    const maxChars = Math.min(this.#terms.maxChars, changed.maxChars ?? Number.POSITIVE_INFINITY)
    this.#terms = { ...this.#terms, ...changed, maxChars, ...(isFree && { returnsReasoning }) }
    return true
  }
}

type Effort = (typeof efforts)[ThinkingLevel]
const efforts = { off: 'none', low: 'low', high: 'high' } as const satisfies Record<ThinkingLevel, string>

/** Keeps only the origin and path of an address: its other parts may contain a key. */
function withoutKeys(address: string): string {
  if (!URL.canParse(address)) return address
  const { origin, pathname } = new URL(address)
  return `${origin}${pathname}`
}

/** Providers whose reasoning is a summary for readers. All other reasoning counts as raw. */
const summarising = ['anthropic.', 'azure.', 'google.', 'openai.', 'vertex.', 'xai.responses']
/** Providers that require unsigned reasoning back with the calls that followed it. */
const reasoningReplayers = ['alibaba.', 'deepseek.', 'moonshotai.']
/** Hosts of OpenAI-compatible servers that require unsigned reasoning back. */
const replayerHosts = /(?:^|\.)(?:deepseek\.com|moonshot\.(?:ai|cn)|kimi\.com|xiaomimimo\.com)$/

/** The provider's own name, such as `openai.responses`; for a model at the AI Gateway, that of its vendor. */
function getProvider(model: AgentModel): string {
  if (typeof model !== 'string' && model.provider !== 'gateway') return model.provider
  const name = typeof model === 'string' ? model : model.modelId
  return `${name.split('/')[0]}.gateway`
}

const writesSummaries = (provider: string): boolean => summarising.some((each) => provider.startsWith(each))
const wantsReasoningBack = (provider: string): boolean =>
  reasoningReplayers.some((each) => provider.startsWith(each))

const isReplayerAt = (address: string | undefined): boolean =>
  address !== undefined && URL.canParse(address) && replayerHosts.test(new URL(address).hostname)

const [raster, pdf] = [['image/png', 'image/jpeg', 'image/webp'], 'application/pdf']
/** Providers and the file types that `ai` sends them in tool results. For others it sends base64 as text, omits files, or fails. */
const resultMedia: readonly (readonly [RegExp, readonly string[]])[] = [
  [/(?:^|\.)anthropic\./, [...raster, 'image/gif', pdf]],
  [/^(?:azure|openai)\.(?:responses|gateway)$/, [...raster, 'image/gif', pdf]],
  [/^google\./, [...raster, pdf]],
  [/^amazon-bedrock$/, [...raster, 'image/gif']],
]

const takesInResults = (provider: string, mediaType: string): boolean =>
  resultMedia.find(([name]) => name.test(provider))?.[1].includes(mediaType) ?? false

type ProviderOptions = NonNullable<ModelSettings['providerOptions']>
type Fields = ProviderOptions[string]

/** Models that hide their reasoning unless asked for it. */
interface Asking {
  readonly providers: RegExp
  /** The models to ask. Others cannot think, refuse the option, or show their reasoning anyway. */
  readonly models: RegExp
  /** Keys of `providerOptions`; the provider reads only one of them. */
  readonly names: readonly [string, ...string[]]
  readonly options: Fields
}

const askings: readonly Asking[] = [
  {
    providers: /(?:^|\.)anthropic\./,
    models: /claude-(?!instant|v?\d)(?!\w+-4(?![-.][7-9](?:\D|$)))/,
    names: ['anthropic'],
    options: { thinking: { type: 'adaptive', display: 'summarized' } },
  },
  {
    providers: /^(?:openai|azure)\.(?:responses|gateway)$/,
    models: /(?:^|\/)(?:o\d|gpt-(?![34])(?!.*chat))/,
    names: ['openai', 'azure'],
    options: { reasoningSummary: 'auto' },
  },
  {
    providers: /^(?:google|vertex)\./,
    models: /gemini-(?!1|2\.0)(?!.*(?:image|live|tts))/,
    names: ['google', 'googleVertex', 'vertex'],
    options: { thinkingConfig: { includeThoughts: true } },
  },
]

/** Returns options that ask a provider for the reasoning of its model. Values in `given` take precedence. */
function askForReasoning(provider: string, model: string, given: ProviderOptions = {}): ProviderOptions {
  const asking = askings.find(({ providers, models }) => providers.test(provider) && models.test(model))
  if (asking === undefined) return given
  const { names, options } = asking
  const name = names.find((each) => each in given) ?? names[0]
  return { ...given, [name]: merge(options, given[name] ?? {}) }
}

/** Merges two objects, and the objects in their fields; `given` takes precedence. */
function merge(defaults: Fields, given: Fields): Fields {
  const merged = Object.entries(defaults).map(([name, value]) => {
    const own = given[name]
    return [name, own === undefined ? value : isFields(own) && isFields(value) ? { ...value, ...own } : own]
  })
  return { ...given, ...Object.fromEntries(merged) }
}

const isFields = (value: Fields[string]): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
