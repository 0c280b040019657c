import { Parts, type Piece } from './tag-parts.js'
import { anyCloser, hasOnlyControls, nextPlace, type Token, tokenAt } from './tag-tokens.js'

export interface TagTexts {
  readonly reasoning: string
  readonly text: string
  /** The end of the text from the mark of a tool call on. */
  readonly called: string
  /** The last thought has no closing tag. */
  readonly isTruncated: boolean
}

/** Characters to wait for, to decide whether a control token ends the text, and whether backticks close on their line. */
const [maxBlankChars, maxLineChars] = [64, 400]

/**
 * Separates thoughts in tags, calls and control tokens from the answer in a stream with pieces of any size. A mark counts
 * anywhere except in code and alone between quotation marks. Corrects itself when later text shows that the text was a thought
 * without an opening tag, that a thought ended within an unclosed code fence, that a tag within a sentence was only mentioned,
 * that a word was not a tag, or that a possible call was not one.
 */
export class TagReader {
  readonly #parts: Parts
  readonly #findsCalls: boolean
  #code = new Code()
  /** A possible beginning of a tag. */
  #held = ''
  /** Closing tags of this thought; `undefined` = not in a thought. */
  #closers: ReadonlySet<string> | undefined
  /** A tag was recognized, so that tags count that may also be markup. */
  #counts: boolean
  #isUnmarked = false
  /** This text mentions thoughts that begin. */
  #isMentioned = false
  /** Closing tags of the thought in which this call began. */
  #outer: ReadonlySet<string> | undefined
  /** A closing tag of this thought within a code fence. */
  #spare: { readonly from: number; readonly to: number } | undefined

  /** Without `findsCalls`, marks of calls count as text. */
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

  /** Returns what was held back, except for an incomplete closing tag. */
  flush(): Piece[] {
    const half = this.#held.toLowerCase()
    const mayBeEnd = !/^\w{1,4}$/.test(half) // More likely a word than a cut-off tag.
    const isHalfEnd =
      mayBeEnd && [...(this.#closers ?? [])].some((closer) => half !== closer && closer.startsWith(half))
    if (!isHalfEnd) this.#read(this.#held, true)
    return this.#parts.drain(!this.#isHalfCall)
  }

  /** Call once. */
  end(): TagTexts {
    this.flush()
    const isHalfCall = this.#isHalfCall
    if (isHalfCall) this.#parts.textWasThought()
    const isOpen = this.#closers !== undefined && !this.#parts.isEmpty
    if (isOpen && this.#spare !== undefined) this.#parts.thoughtEndedAt(this.#spare.from, this.#spare.to)
    const isTruncated = isHalfCall || (isOpen && this.#spare === undefined && !this.#parts.thoughtWasText())
    return { ...this.#parts.joinTexts(), isTruncated }
  }

  /** Thoughts verbatim; call after the end. */
  get thoughts(): readonly string[] {
    return this.#parts.thoughts
  }

  /** A thought without an opening mark was already released as text. */
  get isUnmarked(): boolean {
    return this.#isUnmarked
  }

  /** The thought that contains the mark of a call continued. */
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

  /** The quotation mark that closes here. The last words of a thought may be quoted, and so may the first of an answer. */
  get #quote(): string | undefined {
    return this.#closers === undefined ? this.#code.quote : this.#code.tick
  }

  /** Applies a token; `false` = it counts as text. */
  #apply(token: Token, tag: string, rest: string): boolean {
    if (token.type === 'call' && !this.#findsCalls) return false
    const isQuoted = this.#quote !== undefined && rest.startsWith(this.#quote)
    if (this.#closers !== undefined) return this.#readInThought(token, tag, isQuoted)
    if (this.#parts.kind === 'call') return this.#readInCall(token, tag)
    // A backtick that is not closed on its line does not begin code.
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

  /** Models repeat opening tags that their template already wrote. */
  #opensAgain({ closers }: Token): boolean {
    if (!this.#parts.isBlank) return false
    this.#closers = closers
    return true
  }

  /** Handles the end of the thought in which a call began: if text other than calls came before it, the thought had continued. */
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

  /** Handles a closing tag without an opening one: the text before it was a thought. */
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

/** Limits the lookahead to the text that is awaited, so that the result does not depend on the pieces. */
const endsText = (rest: string): boolean => hasOnlyControls(rest.slice(0, maxBlankChars), true) === true

const pieces = /\n|`+|~+|[^\n`~]+/g
/** Characters that rule out a fence on this line: all but the marks of quotes and lists. */
const beyondMarks = /[^\s>*+\-.\d)]/

const quotes = new Map([
  ['"', '"'],
  ["'", "'"],
  ['“', '”'],
  ['‘', '’'],
  ['„', '“'],
  ['«', '»'],
])

/** Tracks Markdown code in a stream. */
class Code {
  /** The trailing run of backticks or tildes, whose meaning depends on what follows. */
  #mark = ''
  #length = 0
  #fence: { readonly mark: string; readonly length: number } | undefined
  /** Length of the run that opened code on this line; 0 = not in code. */
  #ticks = 0
  #isLineBlank = true
  #last = ''

  see(text: string): void {
    this.#last = text.slice(-1)
    for (const [piece] of text.matchAll(pieces)) this.#see(piece, piece.charAt(0))
  }

  /** The closing mark if this position is in backticks; `undefined` = not in backticks. */
  get tick(): string | undefined {
    return this.#mark === '`' ? '`' : undefined
  }

  /** Like `tick`, also for quotation marks. */
  get quote(): string | undefined {
    return this.tick ?? quotes.get(this.#last)
  }

  /** The line so far has only marks. */
  get isLineBlank(): boolean {
    return this.#mark === '' && this.#isLineBlank
  }

  get isFenced(): boolean {
    this.#settle()
    return this.#fence !== undefined
  }

  /** An opening run of backticks on this line is not closed yet. */
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
      // Models also open fences within a line.
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
