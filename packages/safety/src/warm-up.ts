import { builtInRules, examples } from './built-in-rules.js'
import type { Safety } from './safety.js'

const keywords = [...new Set(builtInRules.flatMap(({ keywords = [] }) => keywords))]
/** What stands between a label and a secret. */
const separators = ['="', '=', ': ', ' ']
/** The step through the keywords, so that each meets others than in its rule; a prime that does not divide their number. */
const stride = 7
/** Examples in one text. */
const together = 60

/**
 * The automata of the rules grow while they are used, and a process shares them: the worst text takes three times as
 * long when it is the first. Takes a second at most; for a server, before it opens.
 */
export function warmUp({ guard }: Safety): void {
  const mixed = keywords.map((_, index) => keywords[(index * stride) % keywords.length])
  for (const separator of separators) guard(mixed.join(separator))
  for (let at = 0; at < examples.length; at += together) guard(examples.slice(at, at + together).join('\n'))
}
