import type { Envelope } from '../envelope.js'
import { type GuardedPart, guardedPart } from '../kinds.js'
import { mapStrings } from './map-strings.js'

/** An envelope as its sender means it. */
export type Utterance = Pick<Envelope, 'id' | 'from' | 'kind' | 'context' | 'rationale' | 'payload'>

/** A text that is guarded. */
export interface SpokenText {
  readonly text: string
  /** `rationale`, or where in the payload it stands, as `mapStrings` has it. */
  readonly place: string
  readonly isKey: boolean
}

/**
 * Every text that is guarded, in the order of the payload's JSON: the `rationale`, every string of a `reasoning.*` payload,
 * and every string of `metadata` elsewhere but in MCP.
 */
export function collectTexts(envelope: Utterance, readJson: () => string): SpokenText[] {
  const { rationale, payload } = envelope
  const spoken: SpokenText[] =
    rationale === undefined || rationale === '' ? [] : [{ text: rationale, place: 'rationale', isKey: false }]
  const part = guardedPart(envelope)
  if (part === undefined) return spoken
  const texts = [...spoken]
  let isInOrder = true
  const add = (text: string, place: string, isKey: boolean): void => {
    if (isGuarded(part, text, place)) texts.push({ text, place, isKey })
  }
  const walk = (value: unknown, place: string): void => {
    if (typeof value === 'string') add(value, place, false)
    else if (Array.isArray(value)) for (const each of value) walk(each, place)
    else if (typeof value === 'object' && value !== null) {
      for (const key in value) {
        if (isDigit(key.charCodeAt(0))) isInOrder = false
        const inside = place === '' ? key : `${place}/${key}`
        add(key, inside, true)
        walk((value as Record<string, unknown>)[key], inside)
      }
    }
  }
  walk(payload, '')
  if (isInOrder) return texts
  // An object has its keys that are numbers in an order of its own.
  rewritePayload(envelope, readJson(), (each) => {
    spoken.push(each)
    return each.text
  })
  return spoken
}

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39

/** Rewrites those of the payload. */
export function rewritePayload(
  envelope: Utterance,
  json: string,
  rewrite: (text: SpokenText) => string,
): string {
  const part = guardedPart(envelope)
  if (part === undefined) return json
  return mapStrings(json, (text, place, isKey) =>
    isGuarded(part, text, place) ? rewrite({ text, place, isKey }) : text,
  )
}

const isGuarded = (part: GuardedPart, text: string, place: string): boolean =>
  (part === '' || place === part || place.startsWith(`${part}/`)) &&
  (text.length > maxVocabularyChars || !vocabulary.has(text))

/** Words of the protocol itself: there is nothing to be found in them. */
const vocabulary: ReadonlySet<string> = new Set([
  ...['', 'message', 'reason', 'references', 'metadata', 'format', 'plain', 'markdown'],
  ...['phase', 'thinking', 'plan', 'waiting_approval', 'execute', 'error'],
])

/** Longer texts need not be looked up. */
const maxVocabularyChars = 16

/** Places of prose, which their names do not explain. */
const unnamed: ReadonlySet<string> = new Set(['message', 'reason', 'rationale', 'references'])

/** Characters of a name, from its end: one name may stand before very many values. */
const maxNameChars = 100

/** What a value is called, for those secrets that are told by it: `password: …`. Empty where that says nothing. */
export function getLabel({ place, isKey }: SpokenText): string {
  if (isKey || unnamed.has(place)) return ''
  const end = place.slice(-maxNameChars)
  return `${end.slice(end.lastIndexOf('/') + 1)}: `
}

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
const maxVoices = 16
/** Characters of a place by which a voice is still known. */
const maxPlaceChars = 100

export function createSpeech(texts: readonly SpokenText[], from: string): Speech {
  const [only] = texts
  if (only !== undefined && texts.length === 1 && !only.isKey && getLabel(only) === '') {
    const voice = getVoice(only, from)
    const { text } = only
    return { spoken: text, voices: new Map(voice === undefined ? [] : [[voice, text]]), lines: text }
  }
  const voices = new Map<string, string>()
  const lines: string[] = []
  let spoken = ''
  for (const each of texts) {
    const { text, isKey } = each
    const label = getLabel(each)
    lines.push(text)
    if (label !== '') lines.push(label + text)
    if (isKey) continue
    spoken += text
    const voice = getVoice(each, from)
    if (voice === undefined || (voices.size >= maxVoices && !voices.has(voice))) continue
    voices.set(voice, (voices.get(voice) ?? '') + text)
  }
  return { spoken, voices, lines: lines.join('\n') }
}

/** Whose words a text goes on with: one sender's in one place. Deep inside a payload nobody speaks. */
export const getVoice = ({ place, isKey }: SpokenText, from: string): string | undefined =>
  isKey || place.includes('/') || place.length > maxPlaceChars ? undefined : `${from} ${place}`

/** The end of what was said: as much as a secret may need that goes on behind it. */
export interface Tail {
  readonly said: string
  /** Where in it one text ended and the next began within a word. */
  readonly seams: readonly number[]
  /** It holds nothing that a secret could begin with. */
  readonly isProse: boolean
}

/** Gives the end of what is said when `text` follows on `before`. */
export type TailOf = (before: Tail, text: string) => Tail

export const noTail: Tail = { said: '', seams: [], isProse: true }

export const isSameTail = (one: Tail, other: Tail): boolean =>
  one === other || (one.said === other.said && one.seams.join() === other.seams.join())

/** The end of what was said in a run, as it was sent: by all together, and by each voice. */
export interface Said {
  readonly all: Tail
  /** A voice is one sender in one place, such as the messages of its thoughts. */
  readonly voices: ReadonlyMap<string, Tail>
}

const nothingSaid: Said = { all: noTail, voices: new Map() }
/** Runs past this many are forgotten, those first in which nothing has been said for longest. */
const maxRuns = 1000

/**
 * What was said last in each run: a secret that is split over several texts is found where the last one completes it
 * [MEUP-6.2]. It is kept in memory alone.
 */
export class RecentlySaid {
  readonly #tailOf: TailOf
  readonly #runs = new Map<string, Said & { readonly voices: Map<string, Tail> }>()

  constructor(tailOf: TailOf) {
    this.#tailOf = tailOf
  }

  in(run: string): Said {
    return this.#runs.get(run) ?? nothingSaid
  }

  /** `spoken`: all of it; `voices`: the part of each. */
  add(run: string, spoken: string, voices: ReadonlyMap<string, string>): void {
    const said = this.#runs.get(run)
    const before = said?.all ?? noTail
    const kept = said?.voices ?? new Map<string, Tail>()
    const all = copyTail(this.#tailOf(before, spoken))
    for (const [voice, words] of voices) {
      const own = kept.get(voice) ?? noTail
      // Nearly always one voice alone has spoken.
      const isAll = words === spoken && isSameTail(own, before)
      setNewest(kept, voice, isAll ? all : copyTail(this.#tailOf(own, words)), maxVoices)
    }
    setNewest(this.#runs, run, { all, voices: kept }, maxRuns)
  }
}

/** A piece of a string would keep all of it in memory; a copy does not. */
const copyTail = (tail: Tail): Tail => ({ ...tail, said: ` ${tail.said}`.slice(1) })

/** Puts an entry last, and drops the first where there are more than `most`. */
function setNewest<Value>(map: Map<string, Value>, key: string, value: Value, maximum: number): void {
  map.delete(key)
  map.set(key, value)
  if (map.size <= maximum) return
  for (const first of map.keys()) {
    map.delete(first)
    break
  }
}
