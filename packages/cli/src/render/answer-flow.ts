import { stripVTControlCharacters } from 'node:util'
import { Bounded, type LiveAnswer, remainingAnswer } from '@meup/folds'
import { type AnyEnvelope, type ChatPayload, correlations, Kind, PROTOCOL } from '@meup/protocol'

/** Draws a chat as the rows of a terminal of this width. */
type Draw = (chat: AnyEnvelope, columns: number) => string[]

/** The part of an answer that is in the scrollback. */
interface Flow {
  /** The text as written. */
  readonly shown: string
  /** The text as drawn, needed to draw the rest: with breaks of long lines; only its end if it is long. */
  readonly head: string
}

const nothing: Flow = { shown: '', head: '' }

/** Number of answers that are remembered until their chat arrives. */
const maxFlows = 100
/** Characters of a head: all of it is drawn again for each further line. */
const maxHeadChars = 1500
/** Characters of what is not in the scrollback that are drawn. */
const maxTailChars = 2000
/** Maximum rows of an unfinished line outside the scrollback, and rows that stay there once it is broken. */
const [maxOpenRows, openRows] = [4, 2]

/**
 * Moves an answer into the scrollback while it is written, line by line. A part that is there is never drawn again, whatever
 * becomes of the width of the terminal, and its chat adds the rest.
 */
export class AnswerFlow {
  readonly #draw: Draw
  readonly #flows = new Bounded<Flow>(maxFlows)
  #current: string | undefined

  constructor(draw: Draw) {
    this.#draw = draw
  }

  /** The rows that join the scrollback. One answer flows at a time, the oldest: rows of several cannot be read. */
  flow(answers: readonly LiveAnswer[], columns: number): string[] {
    const answer = answers.find((each) => keyOf(each) === this.#current) ?? answers[0]
    if (answer === undefined) return []
    const key = keyOf(answer)
    this.#current = key
    const text = answer.text.trimStart()
    const before = this.#flows.get(key) ?? nothing
    // It has started over, and may become the same.
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

  /** The rows that the chat adds to what is in the scrollback of its answer; `undefined`: that is nothing. `answers`: those not over. */
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

  /** Takes the lines that are over, and of a long one that is not the rows that are full. */
  #advance(chat: AnyEnvelope, { shown, head }: Flow, rest: string, columns: number): Flow {
    const over = rest.slice(0, rest.lastIndexOf('\n') + 1)
    // The columns of a table are as wide as its widest cells.
    const lines = over.replace(/(?<=^|\n)(?:[ \t]*\|.*\n)+$/, '')
    const whole = head === '' && isFence(lines) ? nothing : { shown: shown + lines, head: head + lines }
    const line = rest.slice(over.length)
    if (lines !== over || line.length < maxOpenRows * columns || /^\s*[|#]/.test(line)) return whole
    const end = this.#findBreak(chat, whole.head, line, columns)
    if (end === undefined) return whole
    return { shown: `${whole.shown}${line.slice(0, end + 1)}`, head: `${whole.head}${line.slice(0, end)}\n` }
  }

  /** The last space up to which all rows of an open line are full but the last ones. */
  #findBreak(chat: AnyEnvelope, head: string, line: string, columns: number): number | undefined {
    const count = (end: number): number =>
      this.#rowsBehind(chat, head, head + line.slice(0, end), columns).length
    const maxRows = count(line.length) - openRows
    if (maxRows < maxOpenRows - openRows) return undefined
    // A row that begins with another sign might be read as Markdown.
    const spaces = [...line.matchAll(/ (?=[\p{L}("'])/gu)].map(({ index }) => index)
    let [low, high] = [0, spaces.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (count(spaces[middle] ?? 0) <= maxRows) low = middle + 1
      else high = middle
    }
    return spaces[low - 1]
  }

  /** The rows of a message that follow those of its beginning. */
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

/** Whether a text is the first line of a block of code, which draws nothing. */
const isFence = (text: string): boolean => /^\s*(?:```|~~~).*\n?$/.test(text)

/** Something short that is drawn before what follows as the head is. */
function shortenHead(head: string): string {
  if (head.length <= maxHeadChars) return head
  const fences = [...head.matchAll(/^ {0,3}(?:```|~~~).*$/gm)].map(([fence]) => fence)
  const fence = fences.length % 2 === 1 ? `${fences.at(-1)}\n` : ''
  return `…\n${fence === '' && head.endsWith('\n\n') ? '\n' : fence}`
}
