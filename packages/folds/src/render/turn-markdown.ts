import type { Envelope } from '@meup/protocol'
import type { RightSources } from '../capabilities/right.js'
import { defaultGuard } from '../default-guard.js'
import type { Guard } from '../redact.js'
import { phaseLabels } from '../steps/steps.js'
import type { TurnRecord, TurnState } from '../turns/record.js'
import { Narrator } from './narrator.js'

/** The fields of a turn that an export needs. */
export interface NarratedTurn
  extends Pick<TurnRecord, 'id' | 'agent' | 'turnNumber' | 'startedAt' | 'state'> {
  /** `true` if the first envelopes of the turn were pruned. */
  readonly isTruncated?: boolean
}

export interface MarkdownOptions {
  /** Masks texts that the gateway has not masked; default: the rules of @meup/safety. */
  readonly guard?: Guard
  /** Time of the log's head (RFC 3339), by which proposals expire; default: that of the last envelope. */
  readonly until?: string
  /** The sources for describing the right of each call; absent = rights are omitted. */
  readonly rights?: RightSources
}

/** Writes a document in pieces: each call returns the next piece. */
export interface MarkdownWriter {
  /** Writes the next turn, or more of the same turn. `envelopes`: the readable envelopes, in log order. */
  write(turn: NarratedTurn, envelopes: readonly Envelope[]): string
  /** Completes the last turn. */
  end(): string
}

const emptyTurn = 'No reasoning steps were recorded in this turn.'
const truncated = 'Its beginning has been pruned.'

const phaseNames = {
  thinking: 'thinking',
  plan: 'plan',
  waiting_approval: 'waiting for approval',
  execute: 'executed',
  error: 'error',
} as const

/** Explains the phase labels on one line. */
export const markdownLegend = Object.entries(phaseNames)
  .map(([phase, name]) => `${phaseLabels[phase as keyof typeof phaseNames]} ${name}`)
  .join(' · ')

/** The first lines of an export. `rules`: the digest of the masking rules for its arguments and results. */
export const markdownHeader = (title: string, rules: string): string =>
  `# ${title}\n\n${markdownLegend} · rules ${rules.slice(0, digestChars)}\n\n`

/** Maximum characters of the digest: they suffice to distinguish rules, and `/audit` has the complete digest. */
const digestChars = 6

/** A turn of the audit as Markdown. */
export function turnMarkdown(
  turn: NarratedTurn,
  envelopes: readonly Envelope[],
  options: MarkdownOptions & Pick<NarratedTurn, 'isTruncated'> = {},
): string {
  const { isTruncated = turn.isTruncated } = options
  const writer = turnMarkdownWriter(options)
  return writer.write({ ...turn, ...(isTruncated && { isTruncated }) }, envelopes) + writer.end()
}

/** Writes several turns, one below the other. */
export function turnMarkdownWriter(options: MarkdownOptions = {}): MarkdownWriter {
  let last: Section | undefined
  let lastTurn: NarratedTurn | undefined
  const end = (): string => {
    const text = last?.end(lastTurn?.state ?? 'running') ?? ''
    last = undefined
    return text
  }
  return {
    write(turn, envelopes) {
      const isMore = last !== undefined && lastTurn?.id === turn.id
      const [before, separator] = isMore ? ['', ''] : [end(), lastTurn === undefined ? '' : '\n']
      last ??= new Section(formatHeading(turn), turn.isTruncated ? [truncated] : [], options, {
        agent: turn.agent,
      })
      lastTurn = turn
      return `${before}${separator}${last.write(envelopes)}`
    },
    end,
  }
}

/** Writes one context in pieces, like `turnMarkdownWriter`. */
export function contextMarkdownWriter(context: string, options: MarkdownOptions = {}) {
  const section = new Section(`## Context ${context}`, [], options, { context })
  return {
    write: (envelopes: readonly Envelope[]): string => section.write(envelopes),
    end: (): string => section.end('running'),
  }
}

/** A context with its nested contexts as Markdown, with the name of each sender. */
export function contextMarkdown(
  context: string,
  envelopes: readonly Envelope[],
  options: MarkdownOptions = {},
): string {
  const writer = contextMarkdownWriter(context, options)
  return writer.write(envelopes) + writer.end()
}

const formatHeading = ({ id, startedAt, agent, turnNumber, state }: NarratedTurn): string =>
  `## Turn ${id} (${startedAt}) ${agent}, ${turnNumber === null ? 'job' : `turn ${turnNumber}`}, ${state}`

/** A heading with the paragraphs below it. */
class Section {
  readonly #narrator: Narrator
  readonly #until: string | undefined
  #start: readonly string[]
  #isEmpty = true

  constructor(
    heading: string,
    first: readonly string[],
    { guard = defaultGuard, until, rights }: MarkdownOptions,
    about: { agent?: string; context?: string },
  ) {
    this.#narrator = new Narrator(guard, { ...about, ...(rights && { rights }) })
    this.#until = until
    this.#start = [heading, ...first]
  }

  write(envelopes: readonly Envelope[]): string {
    return this.#add(envelopes.flatMap((envelope) => this.#narrator.write(envelope)))
  }

  end(state: TurnState): string {
    const expired = this.#until === undefined ? [] : this.#narrator.expired(this.#until)
    const rest = [...expired, ...this.#narrator.unanswered(state)]
    return this.#add(rest.length === 0 && this.#isEmpty ? [emptyTurn] : rest)
  }

  #add(paragraphs: readonly string[]): string {
    if (paragraphs.length > 0) this.#isEmpty = false
    const all = [...this.#start, ...paragraphs]
    const isFirst = this.#start.length > 0
    this.#start = []
    return all.map((paragraph, index) => `${isFirst && index === 0 ? '' : '\n'}${paragraph}\n`).join('')
  }
}
