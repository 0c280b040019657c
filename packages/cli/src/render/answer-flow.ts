import { stripVTControlCharacters } from 'node:util'
import { Bounded, type LiveAnswer, remainingAnswer } from '@meup/folds'
import { type AnyEnvelope, type ChatPayload, correlations, Kind, PROTOCOL } from '@meup/protocol'

/** Renders a chat as rows of this width. */
type Draw = (chat: AnyEnvelope, columns: number) => string[]

/** The part of an answer that is already in the scrollback. */
interface Flow {
  /** The answer's text as received. */
  readonly shown: string
  /**
   * The text whose rows are in the scrollback, with the line breaks that were added to long lines; of a long text only its end.
   * Later text is rendered together with it, so that a style such as that of a code block continues.
   */
  readonly head: string
}

const nothing: Flow = { shown: '', head: '' }

/** Maximum number of answers remembered until their chat arrives. */
const maxFlows = 100
/** Maximum characters of `head`, which is rendered again for each further line. */
const maxHeadChars = 1500
/** Maximum characters rendered of the part that is not in the scrollback. */
const maxTailChars = 2000
/** Rows from which on an unfinished line is broken; rows of a broken line that stay outside the scrollback. */
const [maxOpenRows, openRows] = [4, 2]

/**
 * Moves an answer into the scrollback line by line while it is written. Rows in the scrollback cannot change, even if the
 * terminal is resized; the final chat adds the rest.
 */
export class AnswerFlow {
  readonly #draw: Draw
  readonly #flows = new Bounded<Flow>(maxFlows)
  #current: string | undefined

  constructor(draw: Draw) {
    this.#draw = draw
  }

  /**
   * Returns new rows for the scrollback. Only one answer flows at a time, the oldest, because interleaved rows would be
   * unreadable.
   */
  flow(answers: readonly LiveAnswer[], columns: number): string[] {
    const answer = answers.find((each) => keyOf(each) === this.#current) ?? answers[0]
    if (answer === undefined) return []
    const key = keyOf(answer)
    this.#current = key
    const text = answer.text.trimStart()
    const before = this.#flows.get(key) ?? nothing
    // The answer started over: waits, because it may still become the same text.
    if (before.shown.startsWith(text)) return []
    const isRejected = !text.startsWith(before.shown)
    const from = isRejected ? nothing : before
    const chat = toChat(answer)
    const to = this.#advance(chat, from, text.slice(from.shown.length), columns)
    this.#flows.set(key, { ...to, head: shortenHead(to.head) })
    return [
      ...(isRejected ? this.#rejected(chat, columns) : []),
      ...this.#rowsBehind(chat, from.head, to.head, columns),
    ]
  }

  /** The rows of an answer that are not in the scrollback yet, without colours. */
  tail(answer: LiveAnswer, columns: number): string[] {
    const flow = this.#flows.get(keyOf(answer)) ?? nothing
    const remaining = remainingAnswer(answer.text, flow.shown)
    const head = remaining === undefined ? '' : flow.head
    const rest = remaining ?? answer.text
    const [before, behind] =
      rest.length <= maxTailChars
        ? [head, head + rest]
        : ['…', `…\n${rest.slice(-maxTailChars).replace(/^[\uDC00-\uDFFF]/, '')}`]
    return this.#rowsBehind(toChat(answer), before, behind, columns).map(stripVTControlCharacters)
  }

  /**
   * Returns the rows that complete an answer once its chat arrives; `undefined` if none of it is in the scrollback. `answers`:
   * those still being written.
   */
  end(chat: AnyEnvelope, answers: readonly LiveAnswer[], columns: number): string[] | undefined {
    if (chat.kind !== Kind.chat) return undefined
    const key = correlations(chat)
      .map((trigger) => keyOf({ from: chat.from, trigger }))
      .find((each) => this.#flows.get(each) !== undefined)
    if (key === undefined || answers.some((each) => keyOf(each) === key)) return undefined
    const { shown, head } = this.#flows.get(key) ?? nothing
    this.#flows.delete(key)
    if (head === '') return undefined
    const rest = remainingAnswer((chat.payload as ChatPayload).message, shown)
    return rest === undefined
      ? [...this.#rejected(chat, columns), ...this.#draw(chat, columns)]
      : this.#rowsBehind(chat, head, head + rest, columns)
  }

  /** Adds finished lines, and the full rows of a long unfinished line. */
  #advance(chat: AnyEnvelope, { shown, head }: Flow, rest: string, columns: number): Flow {
    const over = rest.slice(0, rest.lastIndexOf('\n') + 1)
    // Waits for the end of a table: its widest cells determine the column widths.
    const lines = over.replace(/(?<=^|\n)(?:[ \t]*\|.*\n)+$/, '')
    const whole = head === '' && isFence(lines) ? nothing : { shown: shown + lines, head: head + lines }
    const line = rest.slice(over.length)
    if (lines !== over || line.length < maxOpenRows * columns || /^\s*[|#]/.test(line)) return whole
    const end = this.#findBreak(chat, whole.head, line, columns)
    if (end === undefined) return whole
    return { shown: `${whole.shown}${line.slice(0, end + 1)}`, head: `${whole.head}${line.slice(0, end)}\n` }
  }

  /** Index of the last space in an unfinished line that leaves only the last rows unprinted; `undefined` if there is none. */
  #findBreak(chat: AnyEnvelope, head: string, line: string, columns: number): number | undefined {
    const count = (end: number): number =>
      this.#rowsBehind(chat, head, head + line.slice(0, end), columns).length
    const maxRows = count(line.length) - openRows
    if (maxRows < maxOpenRows - openRows) return undefined
    // Breaks only before a letter, quote or bracket: other characters might start Markdown.
    const spaces = [...line.matchAll(/ (?=[\p{L}("'])/gu)].map(({ index }) => index)
    let [low, high] = [0, spaces.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (count(spaces[middle] ?? 0) <= maxRows) low = middle + 1
      else high = middle
    }
    return spaces[low - 1]
  }

  /** The rows of `whole` after those of its beginning `head`. */
  #rowsBehind(chat: AnyEnvelope, head: string, whole: string, columns: number): string[] {
    const draw = (message: string): string[] =>
      message === ''
        ? []
        : this.#draw({ ...chat, payload: { ...chat.payload, message } } as AnyEnvelope, columns)
    return draw(whole.trimEnd()).slice(draw(head.trimEnd()).length)
  }

  #rejected(chat: AnyEnvelope, columns: number): string[] {
    return this.#rowsBehind(chat, '…', '…\n(that was not the answer)', columns)
  }
}

const keyOf = ({ from, trigger }: Pick<LiveAnswer, 'from' | 'trigger'>): string => `${from} ${trigger}`

const toChat = ({ from, to, text }: LiveAnswer): AnyEnvelope =>
  ({
    protocol: PROTOCOL,
    id: '',
    ts: '',
    from,
    ...(to && { to }),
    kind: Kind.chat,
    payload: { message: text, format: 'markdown' },
  }) as AnyEnvelope

/** Whether a text is only the fence that opens a code block, which renders no row. */
const isFence = (text: string): boolean => /^\s*(?:```|~~~).*\n?$/.test(text)

/** Replaces a long head with a short text that puts the renderer into the same state, such as inside a code block. */
function shortenHead(head: string): string {
  if (head.length <= maxHeadChars) return head
  const fences = [...head.matchAll(/^ {0,3}(?:```|~~~).*$/gm)].map(([fence]) => fence)
  const fence = fences.length % 2 === 1 ? `${fences.at(-1)}\n` : ''
  return `…\n${fence === '' && head.endsWith('\n\n') ? '\n' : fence}`
}
