import { Parts, type Piece } from './tag-parts.js'
import { anyCloser, hasOnlyControls, nextPlace, type Token, tokenAt } from './tag-tokens.js'

export interface TagTexts {
  readonly reasoning: string
  readonly text: string
  /** The end of the text, from the first mark of a tool call. */
  readonly called: string
  /** Set if the last thought has no closing tag. */
  readonly isTruncated: boolean
}

/**
 * Maximum characters to wait for before deciding whether a control token ends the text, or whether a backtick is closed on its
 * line.
 */
const [maxBlankChars, maxLineChars] = [64, 400]

/**
 * Separates thoughts in tags, calls and control tokens from the answer, in a stream with pieces of any size. Tags in code or
 * quotation marks are ignored. Corrects itself if later text shows that: a text was a thought without an opening tag; a thought
 * ended within an unclosed code fence; a sentence only mentioned a tag; a tag was an ordinary word; or a possible call was not
 * a call.
 */
export class TagReader {
  readonly #parts: Parts
  readonly #findsCalls: boolean
  #code = new Code()
  /** Received characters that may be the beginning of a tag. */
  #held = ''
  /** Closing tags of the current thought; `undefined` = not in a thought. */
  #closers: ReadonlySet<string> | undefined
  /** Set after the first tag: from then on, tags that may also be markup are recognized. */
  #counts: boolean
  #isUnmarked = false
  /** The current text mentions an opening tag, such as in code or quotation marks. */
  #isMentioned = false
  /** Closing tags of the thought in which the current call began. */
  #outer: ReadonlySet<string> | undefined
  /** Position of a closing tag within a code fence of the current thought. It is used if no other one follows. */
  #spare: { readonly from: number; readonly to: number } | undefined

  /** Without `findsCalls`, marks of calls are treated as text. */
  constructor({
    prefilled,
    findsCalls = true,
  }: { readonly prefilled: boolean; readonly findsCalls?: boolean }) {
    this.#findsCalls = findsCalls
    this.#parts = new Parts(prefilled ? 'reasoning' : 'text')
    this.#counts = prefilled
    this.#closers = prefilled ? anyCloser : undefined
  }

  push(raw: string): Piece[] {
    this.#read(this.#held + raw, false)
    return this.#parts.drain(false)
  }

  /** Processes held characters, unless they are an incomplete closing tag. Returns the resulting pieces. */
  flush(): Piece[] {
    const half = this.#held.toLowerCase()
    const mayBeEnd = !/^\w{1,4}$/.test(half) // More likely a word than a cut-off tag.
    const isHalfEnd =
      mayBeEnd && [...(this.#closers ?? [])].some((closer) => half !== closer && closer.startsWith(half))
    if (!isHalfEnd) this.#read(this.#held, true)
    return this.#parts.drain(!this.#isHalfCall)
  }

  /** Returns the final texts; call it once. */
  end(): TagTexts {
    this.flush()
    const isHalfCall = this.#isHalfCall
    if (isHalfCall) this.#parts.textWasThought()
    const isOpen = this.#closers !== undefined && !this.#parts.isEmpty
    if (isOpen && this.#spare !== undefined) this.#parts.thoughtEndedAt(this.#spare.from, this.#spare.to)
    const isTruncated = isHalfCall || (isOpen && this.#spare === undefined && !this.#parts.thoughtWasText())
    return { ...this.#parts.joinTexts(), isTruncated }
  }

  /** The thoughts as received, without their tags; available after `end`. */
  get thoughts(): readonly string[] {
    return this.#parts.thoughts
  }

  /** Set if a thought without an opening tag was already released as text. */
  get isUnmarked(): boolean {
    return this.#isUnmarked
  }

  /** Whether the call in a thought turned out to be part of the thought. */
  get #isHalfCall(): boolean {
    return this.#outer !== undefined && !this.#parts.looksCalled
  }

  #read(text: string, isLast: boolean): void {
    let from = 0
    let at = nextPlace(text, 0)
    while (at >= 0) {
      const token = tokenAt(text, at, isLast)
      if (token === 'unsure') break
      if (token === undefined) {
        at = nextPlace(text, at + 1)
        continue
      }
      this.#say(text.slice(from, at))
      from = at
      const end = at + token.name.length
      const rest = text.slice(end)
      if (!isLast && this.#dependsOn(token, rest)) break
      const tag = text.slice(at, end)
      if (!this.#apply(token, tag, rest)) this.#say(tag)
      from = end
      at = nextPlace(text, from)
    }
    const rest = at < 0 ? text.length : at
    this.#say(text.slice(from, rest))
    this.#held = text.slice(rest)
  }

  #say(raw: string): void {
    if (raw === '') return
    this.#parts.say(raw)
    this.#code.see(raw)
  }

  /** Whether the meaning of the token depends on text that has not arrived. */
  #dependsOn({ type, isWord, isBare }: Token, rest: string): boolean {
    if (isBare && rest === '') return true
    if (rest === '' && this.#quote !== undefined) return true
    const isInText = this.#closers === undefined && this.#parts.kind === 'text'
    if (isInText && this.#code.hasOpenTick && !/[`\n]/.test(rest) && rest.length < maxLineChars) return true
    return (
      type === 'control' && isWord && rest.length < maxBlankChars && hasOnlyControls(rest, false) === 'unsure'
    )
  }

  /**
   * The quotation mark around the current position. Within a thought only backticks count, because its last words may be
   * quoted.
   */
  get #quote(): string | undefined {
    return this.#closers === undefined ? this.#code.quote : this.#code.tick
  }

  /** Applies a token. `false` = the token is text. */
  #apply(token: Token, tag: string, rest: string): boolean {
    if (token.type === 'call' && !this.#findsCalls) return false
    const isQuoted = this.#quote !== undefined && rest.startsWith(this.#quote)
    if (this.#closers !== undefined) return this.#readInThought(token, tag, isQuoted)
    if (this.#parts.kind === 'call') return this.#readInCall(token, tag)
    // A backtick without a second one on the same line does not begin code.
    const isInCode = this.#code.isFenced || (this.#code.hasOpenTick && /^[^\n]*`/.test(rest))
    return this.#readInText(token, tag, isQuoted || isInCode, rest)
  }

  #readInThought(token: Token, tag: string, isQuoted: boolean): boolean {
    if (token.type === 'open') return !token.isBare && this.#opensAgain(token)
    if (isQuoted) return false
    const isFenced = this.#code.isFenced
    if (token.type === 'call') {
      if (!isFenced) this.#beginCall()
      return false
    }
    if (!this.#closers?.has(token.name)) return false
    if (isFenced) {
      const from = this.#parts.length
      this.#spare ??= { from, to: from + tag.length }
    } else this.#beginText(tag)
    return !isFenced
  }

  /** Handles another opening tag at the beginning of a thought: some models repeat the tag that the chat template wrote. */
  #opensAgain({ closers }: Token): boolean {
    if (!this.#parts.isBlank) return false
    this.#closers = closers
    return true
  }

  /**
   * Handles the end of the thought in which a call began. If the text since then does not end like a call, all of it is part of
   * the thought.
   */
  #readInCall(token: Token, tag: string): boolean {
    if (!this.#outer?.has(token.name)) return false
    if (!this.#parts.looksCalled) this.#parts.textWasThought()
    this.#beginText(tag)
    return true
  }

  #readInText(token: Token, tag: string, isMentioned: boolean, rest: string): boolean {
    const { isBlank } = this.#parts
    const isOpener = token.type === 'open'
    const isEdge = isBlank || (isOpener ? this.#code.isLineBlank : endsText(rest))
    const mayStand = !token.isWord || isEdge || ((isOpener || token.isBare) && this.#counts)
    const counts = mayStand && !isMentioned && (!token.isBare || this.#standsBare(token, tag, rest))
    if (token.type === 'open') {
      if (counts) this.#beginThought(token, tag)
      else this.#isMentioned ||= !token.isBare
      return counts
    }
    if (token.type === 'close') {
      if (isMentioned) return false
      return isBlank && !this.#counts ? this.#beginText(tag) : this.#endsUnmarked(tag)
    }
    if (token.type === 'call' && counts) this.#beginCall()
    return token.type === 'control' && counts
  }

  #standsBare({ name, type }: Token, tag: string, rest: string): boolean {
    if (tag !== name || (name === 'analysis' && !this.#parts.isEmpty)) return false
    return type === 'control' || /^[^\s.,:;]/.test(rest)
  }

  /** Handles a closing tag without an opening one: the text before the tag was a thought. */
  #endsUnmarked(tag: string): boolean {
    if (this.#isMentioned) return false
    if (this.#parts.isBlank) return true
    this.#isUnmarked ||= !this.#parts.textWasThought()
    return this.#beginText(tag)
  }

  #beginThought({ closers, isBare }: Token, tag: string): void {
    const isWithinLine = !this.#parts.isBlank && !this.#code.isLineBlank
    this.#parts.beginThought(isWithinLine || isBare ? tag : '')
    this.#beginPart(closers)
  }

  #beginText(closer: string): true {
    this.#parts.beginText(closer)
    this.#beginPart(undefined)
    return true
  }

  #beginCall(): void {
    const outer = this.#closers
    this.#parts.beginCall()
    this.#beginPart(undefined)
    this.#outer = outer
  }

  #beginPart(closers: ReadonlySet<string> | undefined): void {
    this.#closers = closers
    this.#counts = true
    this.#code = new Code()
    this.#isMentioned = false
    this.#outer = undefined
    this.#spare = undefined
  }
}

/**
 * Whether only control tokens follow. Looks at a limited number of characters, so that the result does not depend on how the
 * stream is split.
 */
const endsText = (rest: string): boolean => hasOnlyControls(rest.slice(0, maxBlankChars), true) === true

const pieces = /\n|`+|~+|[^\n`~]+/g
/** Characters that rule out that a code fence begins on this line: all except the marks of quotes and lists. */
const beyondMarks = /[^\s>*+\-.\d)]/

const quotes = new Map([
  ['"', '"'],
  ["'", "'"],
  ['“', '”'],
  ['‘', '’'],
  ['„', '“'],
  ['«', '»'],
])

/** Tracks code in a Markdown stream. */
class Code {
  /** Backticks or tildes at the end of the input; later characters decide what they mean. */
  #mark = ''
  #length = 0
  #fence: { readonly mark: string; readonly length: number } | undefined
  /** Number of backticks that opened code on this line; 0 = not in code. */
  #ticks = 0
  #isLineBlank = true
  #last = ''

  see(text: string): void {
    this.#last = text.slice(-1)
    for (const [piece] of text.matchAll(pieces)) this.#see(piece, piece.charAt(0))
  }

  /** A backtick if the last character is one, since it may open a quotation; otherwise `undefined`. */
  get tick(): string | undefined {
    return this.#mark === '`' ? '`' : undefined
  }

  /**
   * The mark that would close a quotation opened by the last character, including backticks; `undefined` = it does not open
   * one.
   */
  get quote(): string | undefined {
    return this.tick ?? quotes.get(this.#last)
  }

  /** Whether the line so far only contains marks of quotes and lists. */
  get isLineBlank(): boolean {
    return this.#mark === '' && this.#isLineBlank
  }

  get isFenced(): boolean {
    this.#settle()
    return this.#fence !== undefined
  }

  /** Whether backticks on this line have opened code that is not closed yet. */
  get hasOpenTick(): boolean {
    this.#settle()
    return this.#ticks > 0
  }

  #see(piece: string, first: string): void {
    if (first === this.#mark) {
      this.#length += piece.length
      return
    }
    this.#settle()
    if (first === '`' || first === '~') {
      this.#mark = first
      this.#length = piece.length
    } else if (first === '\n') {
      // A fence may also be opened within a line.
      if (this.#ticks >= 3) this.#fence = { mark: '`', length: this.#ticks }
      this.#isLineBlank = true
      this.#ticks = 0
    } else if (beyondMarks.test(piece)) this.#isLineBlank = false
  }

  #settle(): void {
    const [mark, length] = [this.#mark, this.#length]
    if (mark === '') return
    this.#mark = ''
    const mayFence = this.#isLineBlank && length >= 3
    this.#isLineBlank = false
    if (this.#fence !== undefined) {
      const closes = mayFence && mark === this.#fence.mark && length >= this.#fence.length
      if (closes) this.#fence = undefined
    } else if (mayFence) this.#fence = { mark, length }
    else if (mark === '`' && this.#ticks === 0) this.#ticks = length
    else if (mark === '`' && this.#ticks === length) this.#ticks = 0
  }
}
