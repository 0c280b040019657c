import { contextRoot, correlations, type Envelope, GATEWAY, isThought, Kind } from '@meup/protocol'
import { Bounded } from '../bounded.js'
import { asks, isAnswerTo } from '../space/answers.js'

/** A public chat that may be a question, with the participants that it names. */
interface Question {
  readonly id: string
  readonly from: string
  readonly mentions?: unknown
}

/** Public work of an agent in a free path, a context that no run has opened. */
interface Work {
  /** The sender of the question that the work is about; absent = none found. */
  readonly asker?: string
  /** Whether the work was answered: then the next question may reuse the path. */
  readonly isOver?: true
}

export interface FreeQuestionsSnapshot {
  readonly questions: readonly Question[]
  readonly frontDesk?: string
  readonly taken: Entries<string>
  readonly paths: Entries<Work>
  readonly unanswered: Entries<string>
}

type Entries<Value> = readonly (readonly [key: string, value: Value])[]

/** Maximum number of remembered questions: work in a free path is never about an older one. */
const maxQuestions = 100
const maxKept = 10_000

/**
 * Matches public work in a free path (a context that no run has opened) with its question and its answering chat, if these do
 * not correlate by id [MEUP-11.16]. Uses public envelopes only, so that the result reveals nothing unreadable.
 */
export class FreeQuestions {
  #questions: Question[] = []
  #frontDesk: string | undefined
  /** Paths in which agents work on questions, by agent and question; `''` = the agent's work names the question by its id. */
  readonly #taken = new Bounded<string>(maxKept)
  readonly #paths = new Bounded<Work>(maxKept)
  /** The path of the latest work of each agent that has no answering chat yet. */
  readonly #unanswered = new Bounded<string>(maxKept)

  /** Remembers chats that may be questions, and which questions were answered by id. */
  apply({ kind, id, from, to, context, correlationId, payload }: Envelope): void {
    if (kind === Kind.systemSpace && payload.event === 'configured')
      this.#frontDesk = typeof payload.frontDesk === 'string' ? payload.frontDesk : undefined
    if (to !== undefined || from === GATEWAY || !(working.has(kind) || isThought(kind))) return
    for (const cause of correlations(correlationId === undefined ? {} : { correlationId })) {
      const key = toKey(from, cause)
      const path = this.#taken.get(key) ?? ''
      this.#taken.renew(key, path)
      if (kind !== Kind.chat || context !== undefined) continue
      this.#end(from, path)
      this.#end(from, toPathKey(from, cause))
    }
    if (kind !== Kind.chat || context !== undefined) return
    const { mentions } = payload
    if (correlationId !== undefined && mentions === undefined) return
    this.#questions.push({ id, from, ...(mentions !== undefined && { mentions }) })
    if (this.#questions.length > maxQuestions) this.#questions.shift()
  }

  /**
   * Returns the id of the question that work in a free path (a context that no run has opened) begins to answer. The envelope
   * is part of that work, and public.
   */
  enter({ from, context = '' }: Envelope): string | undefined {
    const path = toPathKey(from, context)
    const known = this.#paths.use(path)
    if (known !== undefined && !known.isOver) return undefined
    const question = this.#findQuestion(from)
    if (known !== undefined && question === undefined) return undefined
    this.#paths.renew(path, question === undefined ? {} : { asker: question.from })
    this.#unanswered.renew(from, path)
    if (question !== undefined) this.#taken.renew(toKey(from, question.id), path)
    return question?.id
  }

  /**
   * Returns the key of the free path in which the agent has worked, if this is its public answering chat without a correlation.
   */
  answer({ kind, from, to, context, correlationId, payload }: Envelope): string | undefined {
    if (kind !== Kind.chat || to !== undefined || context !== undefined || correlationId !== undefined)
      return undefined
    const path = this.#unanswered.get(from)
    if (path === undefined || !isAnswerTo(this.#paths.get(path)?.asker ?? '', { payload })) return undefined
    this.#end(from, path)
    return path
  }

  /**
   * Handles a public conclusion or cancel in a free path (a context that no run has opened). Work on a question still waits for
   * its answering chat; other work is over.
   */
  conclude({ from, context = '' }: Envelope): void {
    const path = toPathKey(from, context)
    if (this.#paths.get(path)?.asker === undefined) this.#end(from, path)
  }

  snapshot(): FreeQuestionsSnapshot {
    return {
      questions: [...this.#questions],
      ...(this.#frontDesk !== undefined && { frontDesk: this.#frontDesk }),
      taken: this.#taken.snapshot(),
      paths: this.#paths.snapshot(),
      unanswered: this.#unanswered.snapshot(),
    }
  }

  restore({ questions, frontDesk, taken, paths, unanswered }: FreeQuestionsSnapshot): void {
    this.#questions = [...questions]
    this.#frontDesk = frontDesk
    this.#taken.restore(taken)
    this.#paths.restore(paths)
    this.#unanswered.restore(unanswered)
  }

  /** Finds the last question to this agent; `undefined` if the agent has already begun to work on it. */
  #findQuestion(agent: string): Question | undefined {
    const last = this.#questions.findLast(
      ({ from, mentions }) => from !== agent && asks({ payload: { mentions } }, agent, this.#frontDesk),
    )
    return last === undefined || this.#taken.get(toKey(agent, last.id)) !== undefined ? undefined : last
  }

  #end(agent: string, path: string): void {
    const work = this.#paths.get(path)
    if (work !== undefined) this.#paths.set(path, { ...work, isOver: true })
    if (this.#unanswered.get(agent) === path) this.#unanswered.delete(agent)
  }
}

const working: ReadonlySet<string> = new Set([Kind.chat, Kind.reasoningStart])

/**
 * Key of the turn of an agent in a free path, a context that no run has opened; nested paths belong to the turn of their root.
 */
export const toPathKey = (agent: string, path: string): string => toKey(agent, `/${contextRoot(path)}`)

export const toKey = (name: string, id: string): string => `${name} ${id}`
