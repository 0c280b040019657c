import type { ThinkingLevel } from '../../client/types.js'
import type { AgentModel, ModelOptions, ModelSettings } from '../../model/options.js'
import { listCredentials } from '../credentials.js'
import { Liveness } from './liveness.js'
import { adaptTerms, type Refused, type Terms, usualTerms } from './refusals.js'

/** A model where it is reached, with what its provider was found to refuse. All conversations of an agent share it. */
export class ServedModel {
  /** The name of the model. */
  readonly name: string
  /** Its provider, for people to read: `anthropic`, or the address of a server. */
  readonly provider: string
  /** The id of the provider in `ai`, such as `openai.responses`. */
  readonly kind: string
  readonly baseURL: string | undefined
  /** Whether its reasoning is written for people to read. */
  readonly isSummary: boolean
  /** Texts that no message may quote. */
  readonly credentials: readonly string[]
  readonly liveness: Liveness
  readonly #options: ModelOptions
  /** The model for the `ai` package. */
  readonly model: AgentModel
  #terms: Terms
  /** Milliseconds since the epoch until which another model is preferred: this one has failed. */
  restsUntil = 0

  /** `reach`: makes what the `ai` package takes, where that is not the model of the options itself. */
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

  /** For people to read: `gpt-5 of openai`, `qwen3 at http://127.0.0.1:11434/v1`. */
  get title(): string {
    // Names at the AI Gateway begin with it.
    if (this.name.startsWith(`${this.provider}/`)) return this.name
    return `${this.name} ${this.baseURL === undefined ? 'of' : 'at'} ${this.provider}`
  }

  get terms(): Terms {
    return this.#terms
  }

  /** Settings that go to the provider with each request. */
  getSettings(level: ThinkingLevel | undefined): ModelSettings {
    const { settings } = this.#options
    const own = settings?.providerOptions
    const isAsked = level !== 'off' && this.#terms.asksReasoning
    const providerOptions = isAsked ? askForReasoning(this.kind, this.name, own) : (own ?? {})
    return { ...settings, providerOptions }
  }

  /** How much the model is to think, as the `ai` package has it. */
  getEffort(level: ThinkingLevel | undefined): Effort | undefined {
    return level === undefined || !this.#terms.takesEffort ? undefined : efforts[level]
  }

  takes(mediaType: string): boolean {
    return this.#options.showMedia ?? takesInResults(this.kind, mediaType)
  }

  /** Adapts the terms to a refusal. Returns whether they have changed, so that the request may be repeated. */
  adapt(refused: Refused): boolean {
    const { returnsReasoning = this.#terms.returnsReasoning, ...changed } = adaptTerms(refused) ?? {}
    const isFree = this.#options.replayReasoning === undefined
    const isChanged = Object.keys(changed).length > 0
    if (!isChanged && (!isFree || returnsReasoning === refused.terms.returnsReasoning)) return false
    // Another conversation may have found out more meanwhile.
    const maxChars = Math.min(this.#terms.maxChars, changed.maxChars ?? Number.POSITIVE_INFINITY)
    this.#terms = { ...this.#terms, ...changed, maxChars, ...(isFree && { returnsReasoning }) }
    return true
  }
}

type Effort = (typeof efforts)[ThinkingLevel]
const efforts = { off: 'none', low: 'low', high: 'high' } as const satisfies Record<ThinkingLevel, string>

/** Some addresses have a key in them. */
function withoutKeys(address: string): string {
  if (!URL.canParse(address)) return address
  const { origin, pathname } = new URL(address)
  return `${origin}${pathname}`
}

/**
 * Whose reasoning is written to be read: a summary of the chain of thought, made by the provider. Of all others it is
 * taken for the raw one.
 */
const summarising = ['anthropic.', 'azure.', 'google.', 'openai.', 'vertex.', 'xai.responses']
/** Providers that want the bare text of reasoning back with the calls that followed it. */
const reasoningReplayers = ['alibaba.', 'deepseek.', 'moonshotai.']
/** The same, of servers as OpenAI's. */
const replayerHosts = /(?:^|\.)(?:deepseek\.com|moonshot\.(?:ai|cn)|kimi\.com|xiaomimimo\.com)$/

/** As the provider names itself, such as `openai.responses`; of a model at the AI Gateway, whose it is. */
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
/**
 * Which providers take which files in results of tools, as the `ai` package sends them. For others it sends the base64 as
 * text, leaves files out, or fails.
 */
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

/** Models that think in silence unless they are asked to show it. */
interface Asking {
  readonly providers: RegExp
  /** All but those that cannot think, that refuse the option, or that show what they think anyway. */
  readonly models: RegExp
  /** Names of the provider's options, of which it reads one. */
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

/** Options that ask a provider for what its model thinks, where it has to be asked. What is in `given` takes precedence. */
function askForReasoning(provider: string, model: string, given: ProviderOptions = {}): ProviderOptions {
  const asking = askings.find(({ providers, models }) => providers.test(provider) && models.test(model))
  if (asking === undefined) return given
  const { names, options } = asking
  const name = names.find((each) => each in given) ?? names[0]
  return { ...given, [name]: merge(options, given[name] ?? {}) }
}

/** With the fields of both, one level down as well. */
function merge(defaults: Fields, given: Fields): Fields {
  const merged = Object.entries(defaults).map(([name, value]) => {
    const own = given[name]
    return [name, own === undefined ? value : isFields(own) && isFields(value) ? { ...value, ...own } : own]
  })
  return { ...given, ...Object.fromEntries(merged) }
}

const isFields = (value: Fields[string]): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
