import { labelOf, type UtteredText } from './uttered-texts.js'

/** The texts of an envelope as they would be said. */
export interface Speech {
  /** All of it in one go: what is split over several texts is in one piece. */
  readonly spoken: string
  /** What each voice says, in one go. */
  readonly voices: ReadonlyMap<string, string>
  /** Every text on a line of its own, keys too; values once more behind what they are called. */
  readonly lines: string
}

/** Voices of one run past this many are not told apart. */
export const mostVoices = 16
/** Characters of a place by which a voice is still known. */
const longestPlace = 100

export function speechOf(texts: readonly UtteredText[], from: string): Speech {
  const voices = new Map<string, string>()
  const lines: string[] = []
  let spoken = ''
  for (const each of texts) {
    const { text, isKey } = each
    const label = labelOf(each)
    lines.push(text)
    if (label !== '') lines.push(label + text)
    if (isKey) continue
    spoken += text
    const voice = voiceOf(each, from)
    if (voice === undefined || (voices.size >= mostVoices && !voices.has(voice))) continue
    voices.set(voice, (voices.get(voice) ?? '') + text)
  }
  return { spoken, voices, lines: lines.join('\n') }
}

/** Whose words a text goes on with: one sender's in one place. Deep inside a payload nobody speaks. */
export const voiceOf = ({ place, isKey }: UtteredText, from: string): string | undefined =>
  isKey || place.includes('/') || place.length > longestPlace ? undefined : `${from} ${place}`
