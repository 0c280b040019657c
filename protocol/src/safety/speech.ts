import type { Envelope } from '../envelope.js'
import { type GuardedPart, guardedPart } from '../kinds.js'
import { mapStrings } from './map-strings.js'

/** The fields of an envelope from which the guard takes the texts that it scans for secrets, as they were sent. */
export type Utterance = Pick<Envelope, 'id' | 'from' | 'kind' | 'context' | 'rationale' | 'payload'>

/** A text of an envelope that the guard scans for secrets. */
export interface SpokenText {
  readonly text: string
  /**
   * `rationale`, or the path of keys to the text in the payload, such as `metadata/model`; elements of a list have its path.
   */
  readonly place: string
  readonly isKey: boolean
}

/**
 * Lists the texts that the guard scans, in the order of the payload's JSON: the `rationale`, every string of a `reasoning.*`
 * payload, and every string of `metadata` outside of MCP.
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
  // Parsed objects list numeric keys first, so read the order from the JSON text.
  rewritePayload(envelope, readJson(), (each) => {
    spoken.push(each)
    return each.text
  })
  return spoken
}

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39

/** Replaces those texts of a payload that the guard scans. */
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

/** Field names and values of the protocol, which never contain findings. */
const vocabulary: ReadonlySet<string> = new Set([
  ...['', 'message', 'reason', 'references', 'metadata', 'format', 'plain', 'markdown'],
  ...['phase', 'thinking', 'plan', 'waiting_approval', 'execute', 'error'],
])

/** Maximum characters of a word in `vocabulary`. */
const maxVocabularyChars = 16

/** Paths of fields that contain prose. Their names do not label a value, unlike `metadata/password`. */
const unnamed: ReadonlySet<string> = new Set(['message', 'reason', 'rationale', 'references'])

/** Characters at the end of a name that are used as a label. Bounded, because one name may label very many values. */
const maxNameChars = 100

/**
 * Returns the name of the text's field as a label, because some secrets are recognized by it: `password: …`. Empty for fields
 * of prose.
 */
export function getLabel({ place, isKey }: SpokenText): string {
  if (isKey || unnamed.has(place)) return ''
  const end = place.slice(-maxNameChars)
  return `${end.slice(end.lastIndexOf('/') + 1)}: `
}

/** The texts of an envelope, joined in three ways for scanning. */
export interface Speech {
  /** All texts except keys, joined, so that a secret that is split over several texts is in one piece. */
  readonly spoken: string
  /**
   * The joined texts of each voice, by `getVoice`. A voice is one sender in one field, such as the messages of its thoughts.
   */
  readonly voices: ReadonlyMap<string, string>
  /** All texts, one per line, including keys. Values appear once more after their labels. */
  readonly lines: string
}

/** Maximum number of voices (a sender in a field) of a run that are distinguished. */
const maxVoices = 16
/** Maximum characters of the path of a field that counts as a voice. Texts in longer paths have no voice. */
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

/**
 * Returns the key of a text's voice: the texts of one sender in one field continue each other. Keys and nested texts have none.
 */
export const getVoice = ({ place, isKey }: SpokenText, from: string): string | undefined =>
  isKey || place.length > maxPlaceChars ? undefined : `${from} ${place}`

/** The end of the previous texts, long enough to recognize a secret that continues. */
export interface Tail {
  readonly said: string
  /** Offsets in `said` at which one text ends and the next begins within a word. */
  readonly seams: readonly number[]
  /** `true` if `said` contains nothing that a secret could begin with. */
  readonly isProse: boolean
  /** Whether the next text is in another field, so that labels in `said` name no value there; absent = no. */
  readonly isOtherField?: boolean
}

/** Returns the new tail after `text`, given the tail `before` it. */
export type TailOf = (before: Tail, text: string) => Tail

export const noTail: Tail = { said: '', seams: [], isProse: true }

export const isSameTail = (one: Tail, other: Tail): boolean =>
  one === other || (one.said === other.said && one.seams.join() === other.seams.join())

/** The end of the recent texts of a run as sent: of all texts together, and of each voice. */
export interface Said {
  readonly all: Tail
  /**
   * The end of the texts of each voice, by `getVoice`. A voice is one sender in one field, such as the messages of its
   * thoughts.
   */
  readonly voices: ReadonlyMap<string, Tail>
}

const nothingSaid: Said = { all: noTail, voices: new Map() }
/** Maximum number of runs; those without recent texts are forgotten first. */
const maxRuns = 1000

/**
 * Remembers the end of the recent texts of each run or, without a run, of each sender: a secret that is split over several
 * texts is found when the last one completes it [MEUP-6.2]. In memory only.
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

  /** Adds the texts of an envelope. `spoken`: all of them joined; `voices`: the joined texts of each sender and field. */
  add(run: string, spoken: string, voices: ReadonlyMap<string, string>): void {
    const said = this.#runs.get(run)
    const before = said?.all ?? noTail
    const kept = said?.voices ?? new Map<string, Tail>()
    const all = copyTail(this.#tailOf(before, spoken))
    for (const [voice, words] of voices) {
      const own = kept.get(voice) ?? noTail
      // If only one sender has written in only one field, as usual, the end of its texts is the end of the run's texts.
      const isAll = words === spoken && isSameTail(own, before)
      setNewest(kept, voice, isAll ? all : copyTail(this.#tailOf(own, words)), maxVoices)
    }
    setNewest(this.#runs, run, { all, voices: kept }, maxRuns)
  }
}

/** Copies the string, because a slice would keep the whole one in memory. */
const copyTail = (tail: Tail): Tail => ({ ...tail, said: ` ${tail.said}`.slice(1) })

/** Puts an entry at the end of a map, and drops the first entries beyond `maximum`. */
function setNewest<Value>(map: Map<string, Value>, key: string, value: Value, maximum: number): void {
  map.delete(key)
  map.set(key, value)
  if (map.size <= maximum) return
  for (const first of map.keys()) {
    map.delete(first)
    break
  }
}
