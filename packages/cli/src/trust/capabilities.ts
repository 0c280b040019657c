import type { Capability } from '@meup/protocol'
import { onOneLine } from '@meup/views'
import { wordsOf } from '../operator/summary.js'
import { parseObject } from '../parse-object.js'

/** Capabilities of a command line: each a kind, or JSON. Whether they make sense the gateway says. */
export const readCapabilities = (words: readonly string[]): Capability[] =>
  words.map((word) => (word.startsWith('{') ? (parseObject(word, 'a capability') as Capability) : word))

export const capabilitiesText = (capabilities: readonly Capability[]): string =>
  onOneLine(capabilities.map(wordsOf).join(' ')) || 'nothing'
