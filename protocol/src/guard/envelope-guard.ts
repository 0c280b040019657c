import { contextRoot } from '../context.js'
import { Kind } from '../kinds.js'
import { RecentlySaid, type Said } from './recently-said.js'
import { speechOf, voiceOf } from './speech.js'
import { compileSurvey, type Survey } from './survey.js'
import type { GuardedText, GuardFinding, GuardMaker, GuardSettings, TextGuard } from './text-guard.js'
import {
  isPayloadGuarded,
  isToolCall,
  labelOf,
  rewritePayload,
  type Utterance,
  type UtteredText,
  utteredTexts,
} from './uttered-texts.js'

/** The `rationale` of a tool call that gives none, or none that may be shown [MEUP-6.7]. */
export const FALLBACK_RATIONALE = 'Tool selected to satisfy the current subtask.'

/** What the guard makes of an envelope; a part that is absent stays as it is. */
export interface GuardedParts<Finding extends GuardFinding> {
  readonly rationale?: string
  /** As JSON. */
  readonly payload?: string
  /** Each rule once, with each of its actions. */
  readonly findings: readonly Finding[]
  /** How many texts nobody may see. */
  readonly withheld: number
}

const decoder = new TextDecoder()

/** Where anything is found in an envelope, its texts past this many are withheld, so that they cost little. */
const mostTexts = 256

/** Guards what agents think aloud [MEUP-6.1]. */
export class EnvelopeGuard<Settings extends GuardSettings, Finding extends GuardFinding> {
  readonly #maker: GuardMaker<Settings, Finding>
  readonly #said: RecentlySaid
  #texts: TextGuard<Finding>
  #isClean: Survey

  /** Throws for settings that cannot be used. */
  constructor(maker: GuardMaker<Settings, Finding>, settings: Settings) {
    this.#maker = maker
    this.#said = new RecentlySaid(maker.tailOf)
    this.#texts = maker.compile(settings)
    this.#isClean = compileSurvey(maker, settings)
  }

  /** Makes other settings ready; to call what it returns puts them in force. Throws for those that cannot be used. */
  prepare(settings: Settings): () => void {
    const texts = this.#maker.compile(settings)
    const isClean = compileSurvey(this.#maker, settings)
    return () => {
      this.#texts = texts
      this.#isClean = isClean
    }
  }

  /** A text that belongs to no run. */
  guardText(text: string): GuardedText<Finding> {
    return this.#texts.guard(text)
  }

  /** `payload`: its bytes, in which nothing changes but the strings that must. */
  guard(envelope: Utterance, payload: Uint8Array): GuardedParts<Finding> {
    const json = isPayloadGuarded(envelope) ? decoder.decode(payload) : ''
    const texts = utteredTexts(envelope, json)
    const run = runOf(envelope)
    const said = this.#said.in(run)
    const speech = speechOf(texts, envelope.from)
    const isClean = texts.length === 0 || this.#isClean(texts, speech, said)
    const parts: GuardedParts<Finding> = isClean ? nothingFound : this.#rewrite(envelope, json, said)
    if (speech.spoken !== '') this.#said.add(run, speech.spoken, speech.voices)
    const rationale = parts.rationale ?? envelope.rationale
    const isMissing = isToolCall(envelope) && (rationale === undefined || rationale.trim() === '')
    return isMissing ? { ...parts, rationale: FALLBACK_RATIONALE } : parts
  }

  /** Text by text. */
  #rewrite(envelope: Utterance, json: string, said: Said): GuardedParts<Finding> {
    const findings = new Map<string, Finding>()
    const voices = new Map(said.voices)
    let { all } = said
    let texts = 0
    let withheld = 0
    let isMessageWithheld = false

    const rewrite = (each: UtteredText): string => {
      const seen = ++texts > mostTexts ? undefined : guard(each.text, hear(each))
      if (seen !== undefined) return seen
      withheld++
      if (each.place === 'message') isMessageWithheld = true
      return ''
    }
    /** What a text may go on from: its voice's last words, anyone's last words, its label. */
    const hear = (each: UtteredText): Set<string> => {
      if (each.isKey) return noBefore
      const voice = voiceOf(each, envelope.from)
      const own = voice === undefined ? '' : (voices.get(voice) ?? '')
      const befores = new Set([own, all, labelOf(each)].filter((before) => before !== ''))
      if (voice !== undefined) voices.set(voice, this.#maker.tailOf(own, each.text))
      all = this.#maker.tailOf(all, each.text)
      return befores.size === 0 ? noBefore : befores
    }
    const guard = (text: string, befores: Iterable<string>): string | undefined => {
      let seen = text
      for (const before of befores) {
        const guarded = this.#texts.guard(seen, before)
        for (const finding of guarded.findings) findings.set(`${finding.action} ${finding.rule}`, finding)
        if (guarded.isWithheld) return undefined
        seen = guarded.text
      }
      return seen
    }

    const { rationale } = envelope
    const seenRationale = rationale && rewrite({ text: rationale, place: 'rationale', isKey: false })
    const rewritten = rewritePayload(envelope, json, rewrite)
    const payload = isMessageWithheld ? markWithheld(rewritten) : rewritten
    return {
      ...(seenRationale !== undefined && seenRationale !== rationale && { rationale: seenRationale }),
      ...(payload !== json && { payload }),
      findings: [...findings.values()],
      withheld,
    }
  }
}

const nothingFound = { findings: [], withheld: 0 }
const noBefore: Set<string> = new Set([''])

/** What is thought or said next in the same run goes on from this. What belongs to no run goes by its sender. */
function runOf({ id, from, kind, context }: Utterance): string {
  if (context !== undefined) return contextRoot(context)
  return kind === Kind.reasoningStart ? id : ` ${from}`
}

/** The text alone says that there is none; this says why [MEUP-6.6]. */
function markWithheld(json: string): string {
  const payload = JSON.parse(json) as Record<string, unknown>
  const { metadata } = payload
  const isObject = typeof metadata === 'object' && metadata !== null && !Array.isArray(metadata)
  return JSON.stringify({ ...payload, metadata: { ...(isObject && metadata), withheld: true } })
}
