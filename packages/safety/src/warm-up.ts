import { builtInRules } from './built-in-rules.js'
import type { Safety } from './safety.js'

const keywords = [...new Set(builtInRules.flatMap(({ keywords = [] }) => keywords))]
/** What stands between a label and a secret. */
const separators = ['="', '=', ': ', ' ']
/** Steps through the keywords, so that each meets many others; primes, none of which divides their number. */
const strides = [7, 11, 13, 17]

/**
 * The automata of the rules grow while they are used, and a process shares them: the worst text takes three times as
 * long when it is the first. Takes a second at most; for a server, before it opens.
 */
export function warmUp({ guard }: Safety): void {
  for (const stride of strides) {
    const mixed = keywords.map((_, index) => keywords[(index * stride) % keywords.length])
    for (const separator of separators) guard(mixed.join(separator))
  }
}
