/** Roles that a step can have. */
export const whyRoles = [
  ...(['asked', 'set_out', 'thought', 'called', 'result', 'refused', 'proposed', 'approved'] as const),
  ...(['rejected', 'concluded', 'answered'] as const),
] as const
export type WhyRole = (typeof whyRoles)[number]

/** The inputs for ranking a step. */
export interface Rankable {
  readonly role: WhyRole
  readonly from: string
  readonly text: string
  /** Whether the step is an error result, or a refusal. */
  readonly isError: boolean
  /** Index of the step that a result, refusal or rejection is about. */
  readonly about?: number | undefined
}

export interface Ranked {
  /** The rank of the step; 1 = look here first. */
  readonly rank: number
  readonly signals: readonly WhySignal[]
}

/**
 * The weight of each role. An act (a call, proposal, approval or answer) changes the knowledge or actions of others, so it
 * comes first; a thought explains an act, and a result follows from one. The initial question is already known.
 */
const roles: Readonly<Record<WhyRole, number>> = {
  called: 0.5,
  proposed: 0.5,
  approved: 0.5,
  answered: 0,
  rejected: -1,
  refused: -1,
  asked: -2,
  concluded: -2,
  result: -2,
  thought: -3,
  set_out: -4,
}

/** The weight of each signal, which is multiplied by its strength from 0 to 1. */
const weights = {
  /** The step has numbers and names that no earlier step has: the agent remembered or invented them. */
  unsourced: 1,
  /** The step is the first with numbers and names that the answer has. */
  first: 1,
  /** The step contains words such as assume, guess, placeholder. */
  assumed: 1,
  /** The next act retracts something, or tries another way. */
  corrected: 0.5,
  /** The result of the step is an error, or the step was refused. */
  failed: 0.25,
  /** The step is a call with arguments that the preceding thoughts do not mention. */
  unannounced: 0.25,
  /** The same call also had a different result. */
  contradicted: 0.5,
  /** The step hands a question over without numbers or names of the original. */
  dropped: 0.5,
  /** The step nearly repeats an earlier act of the same participant, so the earlier act is more likely the decisive one. */
  repeated: -0.5,
}
/** The name of a signal, which explains a rank. */
export type WhySignal = keyof typeof weights
export const whySignals = Object.keys(weights) as readonly WhySignal[]

/** Describes each signal for people. */
export const whySignalTexts: Readonly<Record<WhySignal, string>> = {
  unsourced: 'no earlier step has its numbers or names',
  first: 'what the answer says appears here first',
  assumed: 'it assumes or guesses',
  corrected: 'the next step takes it back',
  failed: 'it failed',
  unannounced: 'no thought before it mentions it',
  contradicted: 'the same call had another result',
  dropped: 'it leaves out parts of the question',
  repeated: 'it was done before',
}
/** Weight added for each earlier act; negative, because later acts build on earlier ones. */
const perEarlierAct = -0.25
/** Weight added to a step with fewer than `minWords` words. */
const [emptyStep, minWords] = [-2, 4]
/** Counts at which a signal has full strength: unsourced numbers and names; words of assumption or correction. */
const [maxUnsourced, maxMarks] = [6, 3]
/** Minimum strength at which a signal is listed among the reasons of a rank. */
const minNamed = 0.15
/**
 * Minimum shares: common words at which an act repeats another, and arguments of a call that thoughts must contain to announce
 * it.
 */
const [repeatedShare, announcedShare] = [0.8, 0.2]
/** Share of a question's numbers and names that a hand-over may omit without a signal. */
const maxDroppedShare = 0.5

const acts: ReadonlySet<WhyRole> = new Set(['called', 'proposed', 'approved', 'answered'])
const isReasoning = ({ role }: Rankable): boolean =>
  role === 'thought' || role === 'concluded' || role === 'set_out'

const assumption =
  /\b(assum\w+|suppos\w+|presum\w+|guess\w*|hypothetic\w+|simulat\w+|placeholders?|dummy|mock(?:ed)?|probably|perhaps|likely|typical\w*|estimat\w+|approximat\w+)\b/giu
const correction =
  /\b(however|instead|unfortunately|incorrect\w*|wrong\w*|mistak\w+|correct(?:ed|ion)|apologi\w+|retry|again|fail\w*|errors?|missing|unable|cannot|could not|couldn't|did not|didn't|not found)\b/giu

/** The words of a step; `specific`: its numbers and names, which can be wrong. */
interface Words {
  readonly all: ReadonlySet<string>
  readonly specific: ReadonlySet<string>
}

const word = /\p{L}[\p{L}'-]{2,}|\p{N}(?:[\p{N}.,]*\p{N})?/gu
/** Matches text after which a word may be capitalized only because it begins a sentence, line or cell. */
const beginning = /(?:^|[.!?:;|*#>\-"'([{\n]\s*)$/

function readWords(text: string): Words {
  const all = new Set<string>()
  const specific = new Set<string>()
  for (const { 0: found, index } of text.matchAll(word)) {
    const isNumber = /^\p{N}/u.test(found)
    const plain = isNumber ? found.replaceAll(',', '') : found.toLowerCase()
    all.add(plain)
    const isName = /^\p{Lu}/u.test(found) && !beginning.test(text.slice(Math.max(0, index - 3), index))
    if (isName || (isNumber && plain.length > 1)) specific.add(plain)
  }
  return { all, specific }
}

/** Ranks steps in log order by how likely each of them decided the last one, which is to be explained. */
export function rank(steps: readonly Rankable[]): readonly Ranked[] {
  const scored = new Ranking(steps).score()
  const order = scored.map((_, index) => index)
  order.sort((one, other) => (scored[other]?.score ?? 0) - (scored[one]?.score ?? 0) || one - other)
  const ranks = new Map(order.map((index, place) => [index, place + 1]))
  return scored.map(({ signals }, index) => ({ rank: ranks.get(index) ?? 0, signals }))
}

interface Scored {
  readonly score: number
  readonly signals: readonly WhySignal[]
}

class Ranking {
  readonly #steps: readonly Rankable[]
  readonly #words: readonly Words[]
  /** Index of the step in which each word first appears. */
  readonly #first = new Map<string, number>()
  /** Indexes of the thoughts of each participant since its last act (call, proposal, approval or answer). */
  readonly #pending = new Map<string, number[]>()
  readonly #earlier = new Map<string, number[]>()

  constructor(steps: readonly Rankable[]) {
    this.#steps = steps
    this.#words = steps.map(({ text }) => readWords(text))
    for (const [index, { all }] of this.#words.entries())
      for (const each of all) if (!this.#first.has(each)) this.#first.set(each, index)
  }

  score(): Scored[] {
    const answer = this.#listAnswer()
    let before = 0
    return this.#steps.map((step, index) => {
      const isAct = acts.has(step.role)
      const own = isAct || step.role === 'asked' ? (this.#pending.get(step.from) ?? []) : []
      const strengths = this.#measure(step, index, own, answer)
      const total = Object.entries(strengths).reduce(
        (sum, [signal, strength]) => sum + weights[signal as WhySignal] * strength,
        0,
      )
      const isEmpty = (this.#words[index]?.all.size ?? 0) < minWords
      const score = roles[step.role] + total + before * perEarlierAct + (isEmpty ? emptyStep : 0)
      if (isReasoning(step)) this.#pending.set(step.from, [...(this.#pending.get(step.from) ?? []), index])
      else if (own.length > 0) this.#pending.delete(step.from)
      if (isAct) {
        before++
        this.#earlier.set(step.from, [...(this.#earlier.get(step.from) ?? []), index])
      }
      const signals = Object.entries(strengths).filter(([, strength]) => strength >= minNamed)
      return { score, signals: signals.map(([signal]) => signal as WhySignal) }
    })
  }

  /**
   * Measures the strength of each signal of a step, from 0 to 1. An act (call, proposal, approval or answer) is measured
   * together with the thoughts that led to it.
   */
  #measure(
    step: Rankable,
    index: number,
    own: readonly number[],
    answer: ReadonlySet<string>,
  ): Record<WhySignal, number> {
    const isAct = acts.has(step.role)
    const parts = [...own, index]
    const specific = new Set(parts.flatMap((part) => [...(this.#words[part]?.specific ?? [])]))
    const all = new Set(parts.flatMap((part) => [...(this.#words[part]?.all ?? [])]))
    const isNew = (each: string): boolean => parts.includes(this.#first.get(each) ?? -1)
    // Numbers and names in the question and in results come from outside, so they do not count as `unsourced`.
    const isSource = index === 0 || step.role === 'result' || step.role === 'refused'
    const unsourced = isSource ? 0 : [...specific].filter(isNew).length
    const firsts = [...answer].filter((each) => all.has(each) && isNew(each)).length
    const text = parts.map((part) => this.#steps[part]?.text ?? '').join('\n')
    const isLast = index === this.#steps.length - 1
    return {
      unsourced: Math.min(unsourced, maxUnsourced) / maxUnsourced,
      first: index === 0 || isLast || answer.size === 0 ? 0 : firsts / answer.size,
      assumed: isSource ? 0 : countMarks(text, assumption) / maxMarks,
      corrected: isAct ? this.#getCorrection(index) : 0,
      failed: this.#isFailed(index) ? 1 : 0,
      unannounced: step.role === 'called' && this.#isUnannounced(index, own) ? 1 : 0,
      contradicted: step.role === 'called' && this.#isContradicted(index) ? 1 : 0,
      dropped: step.role === 'asked' && index > 0 ? this.#getDropped(index) : 0,
      repeated: isAct && this.#isRepeated(step, index) ? 1 : 0,
    }
  }

  /**
   * Lists the numbers and names of the answer that the question does not have. If the answer has few words, takes the last act
   * with more.
   */
  #listAnswer(): ReadonlySet<string> {
    const last = this.#steps.findLastIndex(
      ({ role }, index) =>
        (index === this.#steps.length - 1 || acts.has(role)) &&
        (this.#words[index]?.all.size ?? 0) >= minWords,
    )
    const asked = this.#words[0]?.all
    return new Set([...(this.#words[last]?.specific ?? [])].filter((each) => last > 0 && !asked?.has(each)))
  }

  /** The strength of `corrected`: how many words of retraction the next act or thought has, of any participant. */
  #getCorrection(index: number): number {
    const next = this.#steps.findIndex(({ role }, at) => at > index && (acts.has(role) || role === 'thought'))
    return next === -1 ? 0 : countMarks(this.#steps[next]?.text ?? '', correction) / maxMarks
  }

  #isFailed(index: number): boolean {
    return this.#steps.some(({ about, isError }) => about === index && isError)
  }

  #isUnannounced(index: number, own: readonly number[]): boolean {
    const said = this.#words[index]?.all ?? new Set<string>()
    if (said.size < minWords || own.length === 0) return false
    const announced = [...said].filter((each) => own.some((part) => this.#words[part]?.all.has(each)))
    return announced.length / said.size < announcedShare
  }

  #isRepeated({ from }: Rankable, index: number): boolean {
    return (this.#earlier.get(from) ?? []).some((each) => this.#share(each, index) >= repeatedShare)
  }

  #isContradicted(index: number): boolean {
    const like = this.#steps.flatMap(({ role }, each) =>
      role === 'called' && this.#share(each, index) === 1 ? [each] : [],
    )
    const results = this.#steps.filter(({ about }) => about !== undefined && like.includes(about))
    return new Set(results.map(({ text }) => text)).size > 1
  }

  /**
   * The strength of `dropped`: the share of the question's numbers and names that a hand-over omits, beyond `maxDroppedShare`.
   */
  #getDropped(index: number): number {
    const asked = this.#words[0]?.specific ?? new Set<string>()
    if (asked.size === 0) return 0
    const kept = [...asked].filter((each) => this.#words[index]?.all.has(each)).length
    return Math.max(0, 1 - kept / asked.size - maxDroppedShare) / (1 - maxDroppedShare)
  }

  /** The share of words that two steps have in common. */
  #share(one: number, other: number): number {
    const [few, many] = [this.#words[one]?.all, this.#words[other]?.all]
    if (few === undefined || many === undefined || few.size === 0) return 0
    const common = [...few].filter((each) => many.has(each)).length
    return common / (few.size + many.size - common)
  }
}

const countMarks = (text: string, marks: RegExp): number => Math.min(text.match(marks)?.length ?? 0, maxMarks)
