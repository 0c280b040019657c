import { examples } from './generated/rules.js'
import type { Safety } from './safety.js'

/** Examples in one text: it takes some milliseconds to guard. */
const together = 4

/**
 * Compiles the built-in rules, which a process shares: the first texts take several times as long otherwise. Goes in steps
 * of some milliseconds; between two of them a server can do its work.
 */
export function* warmUp({ guard }: Safety): Generator<void> {
  for (let at = 0; at < examples.length; at += together) {
    guard(examples.slice(at, at + together).join('\n'))
    yield
  }
}
