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

/** The parts of an envelope in which secrets were masked, or texts withheld. Absent parts stay as they were sent. */
export interface GuardedParts<Finding extends GuardFinding> {
  /** The rationale with secrets masked; `''` = it was withheld completely, so the envelope gets none [MEUP-6.7]. */
  readonly rationale?: string
  /** The payload with secrets masked, as JSON. */
  readonly payload?: string
  /** The rules that matched with their actions, each pair once. */
  readonly findings: readonly Finding[]
  /** Number of withheld texts. */
  readonly withheld: number
  /** Number of withheld texts that were not scanned because of the cost; absent = none. */
  readonly unscanned?: number
}

const decoder = new TextDecoder()

/** Maximum number of texts that are scanned in an envelope with findings. Further ones are withheld, to bound the cost. */
const maxTexts = 256
/**
 * Maximum characters to scan per unit of remaining work, so that the work suffices for one scan of all texts together (the
 * survey).
 */
const charsPerWorkUnit = 2
/**
 * Share of the remaining work for the survey, which scans all texts together. The rest is for scanning the texts one by one if
 * the survey has findings.
 */
const surveyShare = 2 / 3
/** Units of work to locate a text in its payload. */
const workPerText = 1 / 2
/** Minimum characters that are charged for a text. */
const minCharsPerText = 16
/** Characters after the shown part of a long text that are scanned, so that a secret across the cut is found. */
const lookaheadChars = 2048

/** Masks secrets in reasoning before it is published, and withholds texts that the settings forbid [MEUP-6.1]. */
export class EnvelopeGuard<Settings extends GuardSettings, Finding extends GuardFinding> {
  readonly #maker: GuardMaker<Settings, Finding>
  readonly #said: RecentlySaid
  #texts: TextGuard<Finding>
  #isClean: Survey
  #maxLength: number

  /** Compiles the settings. Throws for invalid ones. */
  constructor(maker: GuardMaker<Settings, Finding>, settings: Settings) {
    this.#maker = maker
    this.#said = new RecentlySaid(maker.tailOf)
    this.#texts = maker.compile(settings)
    this.#isClean = compileSurvey(maker, settings)
    this.#maxLength = settings.maxLength
  }

  /** Compiles other settings; calling the result applies them. Throws for invalid settings. */
  prepare(settings: Settings): () => void {
    const texts = this.#maker.compile(settings)
    const isClean = compileSurvey(this.#maker, settings)
    return () => {
      this.#texts = texts
      this.#isClean = isClean
      this.#maxLength = settings.maxLength
    }
  }

  /** Guards a text that is not part of a run. Throws the errors of the meter. */
  guardText(text: string, meter?: WorkMeter): GuardedText<Finding> {
    return this.#texts.guard(text, '', meter)
  }

  /**
   * Guards an envelope. `payload`: the bytes of the payload; only strings with findings change. Texts beyond the meter's budget
   * are withheld unscanned; never throws [MEUP-7.1].
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

  /** Returns the first texts, as many as the remaining work suffices for. */
  #affordable(texts: readonly SpokenText[], { left }: WorkMeter): readonly SpokenText[] {
    let characters = left * charsPerWorkUnit
    const end = texts.findIndex(({ text }) => {
      characters -= Math.min(text.length, this.#maxLength + lookaheadChars) + minCharsPerText
      return characters < 0
    })
    return end === -1 ? texts : texts.slice(0, end)
  }

  /**
   * Scans all texts together. Returns whether they certainly have no findings; `false` if the remaining work does not suffice.
   */
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

  /** Scans the texts one by one, and rewrites those with findings. */
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
    /**
     * Lists the texts that may continue in this one: the last words of the same sender in the same field, those of the whole
     * run, and the label of this text.
     */
    const getPrecedingTexts = (each: SpokenText): readonly (Tail | string)[] => {
      if (each.isKey) return noBefore
      const voice = getVoice(each, envelope.from)
      const own = voice === undefined ? noTail : (voices.get(voice) ?? noTail)
      const tails = isSameTail(own, all) ? [own] : [own, { ...all, isOtherField: true }]
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

/**
 * How to scan an envelope. `scanned`: number of texts that are scanned; `isClean`: the scan of all texts together has found
 * nothing.
 */
interface Scan {
  readonly scanned: number
  readonly isClean: boolean
  readonly meter: WorkMeter
}

const what = 'characters to scan for secrets'
const unlimited = (): WorkMeter => new WorkMeter(Number.POSITIVE_INFINITY)
const nothingFound = { findings: [], withheld: 0 }
const noBefore: readonly string[] = ['']

/** Returns a key for texts that may continue each other: those of one run or, without a run, of one sender. */
function getRunKey({ id, from, kind, context }: Utterance): string {
  if (context !== undefined) return contextRoot(context)
  return kind === Kind.reasoningStart ? id : ` ${from}`
}

/** Adds the reason to a payload with withheld texts [MEUP-6.6]. */
function markWithheld(json: string, unscanned: number): string {
  const payload = JSON.parse(json) as Record<string, unknown>
  const { metadata } = payload
  const isObject = typeof metadata === 'object' && metadata !== null && !Array.isArray(metadata)
  const marks = { withheld: true, ...(unscanned > 0 && { unscanned }) }
  return JSON.stringify({ ...payload, metadata: { ...(isObject && metadata), ...marks } })
}

/**
 * Scans all texts of an envelope together. Returns whether they certainly have no findings, given the previous texts of the
 * run.
 */
export type Survey = (texts: readonly SpokenText[], speech: Speech, said: Said, meter?: WorkMeter) => boolean

/**
 * Compiles a check that scans all texts of an envelope together. Nearly all envelopes have no findings, and a few scans show
 * that, however many texts there are. The check may report a finding that is none, but never misses one.
 */
export function compileSurvey<Settings extends GuardSettings, Finding extends GuardFinding>(
  maker: GuardMaker<Settings, Finding>,
  settings: Settings,
): Survey {
  const { maxLength, rules, policy } = settings
  // Rules with the anchors `\A` and `\z` need each text alone, so with such rules no survey is possible.
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

/** In the joined text, each text is a line, so anchors for the text become anchors for the line. */
const byLine = <Rule extends { readonly pattern: string }>(rule: Rule): Rule => ({
  ...rule,
  pattern: `(?m)${rule.pattern}`,
})

export interface GuardFinding {
  readonly rule: string
  readonly action: string
}

export interface GuardedText<Finding extends GuardFinding> {
  /** The text with secrets masked; empty if it was withheld. */
  readonly text: string
  readonly isWithheld: boolean
  readonly findings: readonly Finding[]
}

/** Masks secrets in single texts, or withholds the texts. */
export interface TextGuard<Finding extends GuardFinding> {
  /**
   * Guards a text. `before`: the text directly before it; a finding across both is masked in the text only. Charges the meter
   * before each step, and throws its errors.
   */
  guard(text: string, before?: Tail | string, meter?: WorkMeter): GuardedText<Finding>
}

/** Settings that every text guard has. */
export interface GuardSettings {
  /** Maximum characters of one text; longer ones are cut. */
  readonly maxLength: number
  readonly rules: readonly PatternRule[]
  readonly policy: readonly PatternRule[]
}

interface PatternRule {
  /** Regular expression in RE2 syntax. */
  readonly pattern: string
}

/** Compiles text guards; implemented by @meup/safety. */
export interface GuardMaker<Settings extends GuardSettings, Finding extends GuardFinding> {
  /** Compiles settings. Throws for invalid ones. */
  compile(settings: Settings): TextGuard<Finding>
  readonly tailOf: TailOf
}
