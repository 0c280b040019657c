import type { WelcomePayload } from '@meup/protocol'
import type { ViewFilter } from '../view/view.js'
import { readFilter } from '../watch/filter.js'

/** The filter that `/filter <words>` means. Throws `UsageError`. */
export function filterOf(words: readonly string[]): ViewFilter {
  const named = (name: string): string | undefined =>
    words.find((word) => word.startsWith(`${name}:`))?.slice(name.length + 1)
  const agent = words.filter((word) => word.startsWith('@')).map((word) => word.slice(1))
  const kind = words.filter((word) => !/^@|:/.test(word))
  const [context, reasoning] = [named('context'), named('reasoning')]
  const filter = readFilter({
    ...(agent.length > 0 && { agent }),
    ...(kind.length > 0 && { kind }),
    ...(context !== undefined && { context }),
    ...(reasoning !== undefined && { reasoning }),
  })
  return words.length === 0 ? filter : { ...filter, name: words.join(' ') }
}

/** What the gateway has kept back from this connection. */
export function heldBackText({ subscription }: WelcomePayload): string {
  const { envelopes, bytes } = subscription.suppressed
  const size = bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`
  return `${envelopes.toLocaleString('en')} envelopes (${size}) kept back so far`
}
