import { builtInRules, examples } from './generated/rules.js'
import type { Safety } from './safety.js'

const keywords = [...new Set(builtInRules.flatMap(({ keywords = [] }) => keywords))]
/** What stands between a label and a secret. */
const separators = ['="', '=', ': ', ' ']
/** The step through the keywords, so that each meets others than in its rule; a prime that does not divide their number. */
const stride = 7
/** Keywords, or examples, in one text: it takes some milliseconds to guard. */
const together = 10

/**
 * Compiles the built-in rules and has their automata grow, which a process shares: the first texts take several times as
 * long otherwise. Takes a second at most, in steps of some milliseconds; between two of them a server can do its work.
 */
export function* warmUp({ guard }: Safety): Generator<void> {
  const mixed = keywords.map((_, index) => keywords[(index * stride) % keywords.length] ?? '')
  for (const texts of [
    ...separators.map((separator) => ({ parts: mixed, separator })),
    { parts: examples, separator: '\n' },
  ]) {
    for (const part of inParts(texts.parts)) {
      guard(part.join(texts.separator))
      yield
    }
  }
}

function* inParts(texts: readonly string[]): Generator<readonly string[]> {
  for (let at = 0; at < texts.length; at += together) yield texts.slice(at, at + together)
}
