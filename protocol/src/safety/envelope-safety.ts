import { contextRoot } from '../context.js'
import { guardedPart, Kind } from '../kinds.js'
import { WorkError, WorkMeter } from '../work.js'
import {
  collectTexts,
  createSpeech,
  getLabel,
  getVoice,
  isSameTail,
  noTail,
  RecentlySaid,
  rewritePayload,
  type Said,
  type Speech,
  type SpokenText,
  type Tail,
  type TailOf,
  type Utterance,
} from './speech.js'

/** What the guard makes of an envelope; a part that is absent stays as it is. */
export interface GuardedParts<Finding extends GuardFinding> {
  /** `''`: nothing of it may be shown, and the envelope is to have none [MEUP-6.7]. */
  readonly rationale?: string
  /** As JSON. */
  readonly payload?: string
  /** Each rule once, with each of its actions. */
  readonly findings: readonly Finding[]
  /** How many texts nobody may see. */
  readonly withheld: number
  /** How many of them have not been scanned, since that would have cost too much; absent = none. */
  readonly unscanned?: number
}

const decoder = new TextDecoder()

/** Where anything is found in an envelope, its texts past this many are withheld, so that they cost little. */
const maxTexts = 256
/** Characters of all texts that are scanned for each unit of work that is left: so the survey has enough. */
const charsPerWorkUnit = 2
/** The part of the work that is left for the survey; where it finds something, the rest is for looks at each text. */
const surveyShare = 2 / 3
/** Units of work for finding a text in its payload. */
const workPerText = 1 / 2
/** What it costs to look at a text however short it is, in characters. */
const minCharsPerText = 16
/** Of a longer text no more is read than may be shown, and what a secret may need behind that. */
const lookaheadChars = 2048

/** Guards what agents think aloud [MEUP-6.1]. */
export class EnvelopeGuard<Settings extends GuardSettings, Finding extends GuardFinding> {
  readonly #maker: GuardMaker<Settings, Finding>
  readonly #said: RecentlySaid
  #texts: TextGuard<Finding>
  #isClean: Survey
  #maxLength: number

  /** Throws for settings that cannot be used. */
  constructor(maker: GuardMaker<Settings, Finding>, settings: Settings) {
    this.#maker = maker
    this.#said = new RecentlySaid(maker.tailOf)
    this.#texts = maker.compile(settings)
    this.#isClean = compileSurvey(maker, settings)
    this.#maxLength = settings.maxLength
  }

  /** Makes other settings ready; to call what it returns puts them in force. Throws for those that cannot be used. */
  prepare(settings: Settings): () => void {
    const texts = this.#maker.compile(settings)
    const isClean = compileSurvey(this.#maker, settings)
    return () => {
      this.#texts = texts
      this.#isClean = isClean
      this.#maxLength = settings.maxLength
    }
  }

  /** A text that belongs to no run. Throws what the meter throws. */
  guardText(text: string, meter?: WorkMeter): GuardedText<Finding> {
    return this.#texts.guard(text, '', meter)
  }

  /**
   * `payload`: its bytes, in which nothing changes but the strings that must. What the meter does not pay for is not
   * scanned, and withheld: this never throws [MEUP-7.1].
   */
  guard(envelope: Utterance, payload: Uint8Array, meter = unlimited()): GuardedParts<Finding> {
    const readJson = (): string => (guardedPart(envelope) !== undefined ? decoder.decode(payload) : '')
    const all = collectTexts(envelope, readJson)
    meter.charge(Math.min(all.length * workPerText, Math.floor(meter.left)), what)
    const texts = this.#affordable(all, meter)
    const run = getRunKey(envelope)
    const said = this.#said.in(run)
    const speech = createSpeech(texts, envelope.from)
    const isClean = texts.length === 0 || this.#survey(texts, speech, said, meter)
    const parts: GuardedParts<Finding> =
      isClean && texts.length === all.length
        ? nothingFound
        : this.#rewrite(envelope, readJson(), said, { scanned: texts.length, isClean, meter })
    if (speech.spoken !== '') this.#said.add(run, speech.spoken, speech.voices)
    const rationale = parts.rationale ?? envelope.rationale
    return rationale?.trim() === '' ? { ...parts, rationale: '' } : parts
  }

  /** As many of the first texts as there is work left for. */
  #affordable(texts: readonly SpokenText[], { left }: WorkMeter): readonly SpokenText[] {
    let characters = left * charsPerWorkUnit
    const end = texts.findIndex(({ text }) => {
      characters -= Math.min(text.length, this.#maxLength + lookaheadChars) + minCharsPerText
      return characters < 0
    })
    return end === -1 ? texts : texts.slice(0, end)
  }

  /** Where it is cut short, there may be something. */
  #survey(texts: readonly SpokenText[], speech: Speech, said: Said, meter: WorkMeter): boolean {
    const part = new WorkMeter(meter.left * surveyShare)
    try {
      return this.#isClean(texts, speech, said, part)
    } catch (error) {
      if (!(error instanceof WorkError)) throw error
      return false
    } finally {
      meter.charge(Math.min(part.spent, Math.floor(meter.left)), what)
    }
  }

  /** Text by text. */
  #rewrite(
    envelope: Utterance,
    json: string,
    said: Said,
    { scanned, isClean, meter }: Scan,
  ): GuardedParts<Finding> {
    const findings = new Map<string, Finding>()
    const voices = new Map(said.voices)
    let { all } = said
    let texts = 0
    let withheld = 0
    let unscanned = 0
    let isMarked = false

    const rewrite = (each: SpokenText): string => {
      const seen = ++texts > scanned ? skip() : isClean ? each.text : look(each)
      if (seen !== undefined) return seen
      withheld++
      if (each.place === 'message') isMarked = true
      return ''
    }
    const skip = (): undefined => {
      unscanned++
    }
    const look = (each: SpokenText): string | undefined => {
      if (texts > maxTexts || meter.left === 0) return skip()
      try {
        return guard(each.text, getPrecedingTexts(each))
      } catch (error) {
        if (!(error instanceof WorkError)) throw error
        return skip()
      }
    }
    /** What a text may go on from: its voice's last words, anyone's last words, its label. */
    const getPrecedingTexts = (each: SpokenText): readonly (Tail | string)[] => {
      if (each.isKey) return noBefore
      const voice = getVoice(each, envelope.from)
      const own = voice === undefined ? noTail : (voices.get(voice) ?? noTail)
      const tails = isSameTail(own, all) ? [own] : [own, all]
      const befores = [...tails.filter(({ said }) => said !== ''), getLabel(each)].filter(
        (each) => each !== '',
      )
      if (voice !== undefined) voices.set(voice, this.#maker.tailOf(own, each.text))
      all = this.#maker.tailOf(all, each.text)
      return befores.length === 0 ? noBefore : befores
    }
    const guard = (text: string, befores: readonly (Tail | string)[]): string | undefined => {
      let seen = text
      for (const before of befores) {
        const guarded = this.#texts.guard(seen, before, meter)
        for (const finding of guarded.findings) findings.set(`${finding.action} ${finding.rule}`, finding)
        if (guarded.isWithheld) return undefined
        seen = guarded.text
      }
      return seen
    }

    const { rationale } = envelope
    const seenRationale = rationale && rewrite({ text: rationale, place: 'rationale', isKey: false })
    const rewritten = rewritePayload(envelope, json, rewrite)
    const payload =
      json !== '' && (isMarked || unscanned > 0) ? markWithheld(rewritten, unscanned) : rewritten
    return {
      ...(seenRationale !== undefined && seenRationale !== rationale && { rationale: seenRationale }),
      ...(payload !== json && { payload }),
      findings: [...findings.values()],
      withheld,
      ...(unscanned > 0 && { unscanned }),
    }
  }
}

/** Which texts are looked at: the first ones, if there may be something in them. */
interface Scan {
  readonly scanned: number
  readonly isClean: boolean
  readonly meter: WorkMeter
}

const what = 'characters to scan for secrets'
const unlimited = (): WorkMeter => new WorkMeter(Number.POSITIVE_INFINITY)
const nothingFound = { findings: [], withheld: 0 }
const noBefore: readonly string[] = ['']

/** What is thought or said next in the same run goes on from this. What belongs to no run goes by its sender. */
function getRunKey({ id, from, kind, context }: Utterance): string {
  if (context !== undefined) return contextRoot(context)
  return kind === Kind.reasoningStart ? id : ` ${from}`
}

/** The text alone says that there is none; this says why [MEUP-6.6]. */
function markWithheld(json: string, unscanned: number): string {
  const payload = JSON.parse(json) as Record<string, unknown>
  const { metadata } = payload
  const isObject = typeof metadata === 'object' && metadata !== null && !Array.isArray(metadata)
  const marks = { withheld: true, ...(unscanned > 0 && { unscanned }) }
  return JSON.stringify({ ...payload, metadata: { ...(isObject && metadata), ...marks } })
}

/** Whether there is certainly nothing to be found in the texts of an envelope, in a run where this was said. */
export type Survey = (texts: readonly SpokenText[], speech: Speech, said: Said, meter?: WorkMeter) => boolean

/**
 * Nearly always there is nothing to be found. That shows in a few looks at all texts together, however many they are;
 * they may see too much in them, but never too little.
 */
export function compileSurvey<Settings extends GuardSettings, Finding extends GuardFinding>(
  maker: GuardMaker<Settings, Finding>,
  settings: Settings,
): Survey {
  const { maxLength, rules, policy } = settings
  // Only of the text itself it can be said where it begins and ends.
  if ([...rules, ...policy].some(({ pattern }) => /\\[Az]/.test(pattern))) return () => false
  const together = maker.compile({
    ...settings,
    maxLength: Number.MAX_SAFE_INTEGER,
    rules: rules.map(byLine),
    policy: policy.map(byLine),
  })
  const isClean = (text: string, before: Tail, meter: WorkMeter | undefined): boolean => {
    if (text === '') return true
    const guarded = together.guard(text, before, meter)
    return guarded.text === text && !guarded.isWithheld && guarded.findings.length === 0
  }

  return (texts, { spoken, voices, lines }, said, meter) =>
    texts.every(({ text }) => text.length <= maxLength) &&
    isClean(spoken, said.all, meter) &&
    (lines === spoken || isClean(lines, noTail, meter)) &&
    [...voices].every(([voice, words]) => {
      const own = said.voices.get(voice)
      return (
        own === undefined || (words === spoken && isSameTail(own, said.all)) || isClean(words, own, meter)
      )
    })
}

/** A text is a line, and so begins and ends as one. */
const byLine = <Rule extends { readonly pattern: string }>(rule: Rule): Rule => ({
  ...rule,
  pattern: `(?m)${rule.pattern}`,
})

export interface GuardFinding {
  readonly rule: string
  readonly action: string
}

/** What is left of a text. */
export interface GuardedText<Finding extends GuardFinding> {
  /** Empty where it is withheld. */
  readonly text: string
  readonly isWithheld: boolean
  readonly findings: readonly Finding[]
}

/** What guards single texts. */
export interface TextGuard<Finding extends GuardFinding> {
  /**
   * `before` stands right before the text: what is split over both is found, and changed in the text alone. Charges the
   * meter before each step, and throws what the meter throws.
   */
  guard(text: string, before?: Tail | string, meter?: WorkMeter): GuardedText<Finding>
}

/** What the guards of texts go by. */
export interface GuardSettings {
  /** Characters of one text; what is longer is cut. */
  readonly maxLength: number
  readonly rules: readonly PatternRule[]
  readonly policy: readonly PatternRule[]
}

interface PatternRule {
  /** RE2 syntax. */
  readonly pattern: string
}

/** Makes guards of texts; @meup/safety does. */
export interface GuardMaker<Settings extends GuardSettings, Finding extends GuardFinding> {
  /** Throws for settings that cannot be used. */
  compile(settings: Settings): TextGuard<Finding>
  readonly tailOf: TailOf
}
