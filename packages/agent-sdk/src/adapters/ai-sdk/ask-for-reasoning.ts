import type { ModelSettings } from '../../model/options.js'

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
export function askForReasoning(
  provider: string,
  model: string,
  given: ProviderOptions = {},
): ProviderOptions {
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
