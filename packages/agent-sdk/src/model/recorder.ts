import { type AnyEnvelope, isThought } from '@meup/protocol'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import type { Content, PromptContent, SentMessage } from '../transcript/content.js'
import type { Mask } from '../transcript/mask.js'
import type { CommitDraft, EnvelopeLink, TranscriptStore } from '../transcript/store.js'
import type { CallResult, ModelStep, SentPrompt } from './dialogue.js'
import type { TranscriptMode } from './options.js'

interface RecorderOptions {
  readonly space: string
  readonly mode: Exclude<TranscriptMode, 'off'>
  readonly mask: Mask
  readonly now: () => number
  /** Called once, when the transcript cannot go on. */
  readonly onError: (error: unknown) => void
}

/** Keeps what a model was sent, thought and answered. Where that fails the agent goes on without. */
export class Recorder {
  readonly #store: TranscriptStore
  readonly #options: RecorderOptions
  #isOver = false

  constructor(store: TranscriptStore, options: RecorderOptions) {
    this.#store = store
    this.#options = options
  }

  /** `trigger`: the id of the message that is answered; `context`: where it is thought about. */
  begin(trigger: string, context: string | undefined): TurnRecorder {
    const place = { turn: trigger, ...(context !== undefined && { context }) }
    return new TurnRecorder(this.#options, place, (work) => this.#attempt(work))
  }

  #attempt<Result>(work: (store: TranscriptStore) => Result): Result | undefined {
    if (this.#isOver) return undefined
    try {
      return work(this.#store)
    } catch (error) {
      this.#isOver = true
      this.#options.onError(new Error(`the transcript ends here: ${String(error)}`, { cause: error }))
      return undefined
    }
  }
}

interface Place {
  readonly turn: string
  readonly context?: string
}
type Attempt = <Result>(work: (store: TranscriptStore) => Result) => Result | undefined

/** Keeps one turn. The work is done while the agent waits for others; what is left of it when the turn ends, then. */
export class TurnRecorder {
  readonly #options: RecorderOptions
  readonly #attempt: Attempt
  readonly #place: Place
  #jobs: (() => void)[] = []
  #timer: ReturnType<typeof setTimeout> | undefined
  /** Of this turn; its first step is 1. */
  #step = 0
  /** Of the last prompt: how many messages it had, the hash of the first one, and that of the tools. */
  #sent = { count: 0, system: '', tools: '' }
  #head: string | undefined
  /** Envelopes that came before the commit that they belong to. */
  #early: EnvelopeLink[] = []

  constructor(options: RecorderOptions, place: Place, attempt: Attempt) {
    this.#options = options
    this.#place = place
    this.#attempt = attempt
  }

  sent(prompt: SentPrompt): void {
    this.#do(() => {
      this.#step++
      this.#commit([{ content: this.#toPrompt(prompt) }])
    })
  }

  /** What was thought goes before what was said, as it came. */
  answered(step: ModelStep, ms: number): void {
    this.#do(() => {
      const { text, calls, thoughts, spent, shown, end } = step
      const { mask } = this.#options
      const reasoning = thoughts.map(({ text, format, attached }): CommitDraft => {
        const kept = attached === undefined ? {} : { metadata: { attached: mask.json(attached) } }
        const sealed = text === '' ? { message: '(only its provider can read it)' } : {}
        return { content: { content_type: 'reasoning', text: mask.text(text), format }, ...sealed, ...kept }
      })
      const toolCalls = calls.map(({ id, name, input }) => ({
        id,
        name,
        arguments: mask.json(input) ?? null,
      }))
      const content: Content = {
        content_type: 'assistant',
        text: mask.text(text),
        ...(toolCalls.length > 0 && { toolCalls }),
      }
      const { input, output } = spent
      const usage = input + output > 0 ? { usage: spent } : {}
      const metadata = { ms, end, ...(shown !== undefined && { shown }) }
      this.#commit([...reasoning, { content, metadata, ...usage }])
    })
  }

  results(results: readonly CallResult[]): void {
    this.#do(() =>
      this.#commit(
        results.map(({ id, name, text, media, isError }) => ({
          content: {
            content_type: 'tool',
            callId: id,
            name,
            text: this.#options.mask.text(text),
            ...(isError && { isError }),
          },
          ...(media.length > 0 && {
            metadata: { media: media.map(({ mediaType, data }) => ({ mediaType, ...measure(data) })) },
          }),
        })),
      ),
    )
  }

  failed(error: unknown): void {
    this.#do(() => {
      const text = error instanceof Error ? error.message : String(error)
      this.#commit([{ content: { content_type: 'error', text: this.#options.mask.text(text) } }])
    })
  }

  /** An envelope that this turn has sent: a thought belongs to the answer that is still coming, all else to the last one. */
  link({ id, kind }: AnyEnvelope): void {
    this.#do(() => {
      if (isThought(kind) || this.#head === undefined) this.#early.push({ id, kind })
      else this.#link(this.#head, [{ id, kind }])
    })
  }

  /** Finishes what is to be done; gives the hash of the turn's last commit, which covers all before it. */
  settle(): string | undefined {
    clearTimeout(this.#timer)
    this.#timer = undefined
    for (let job = this.#jobs.shift(); job !== undefined; job = this.#jobs.shift()) job()
    return this.#head
  }

  #do(job: () => void): void {
    this.#jobs.push(job)
    this.#timer ??= setTimeout(() => this.#work())
  }

  /** One job at a time, so that nobody waits for long. */
  #work(): void {
    this.#timer = undefined
    this.#jobs.shift()?.()
    if (this.#jobs.length > 0) this.#timer ??= setTimeout(() => this.#work())
  }

  #commit(drafts: readonly CommitDraft[]): void {
    const { space, now } = this.#options
    const place = { at: new Date(now()).toISOString(), space, ...this.#place, step: this.#step }
    const whole = drafts.map((draft) => ({ ...draft, metadata: { ...place, ...draft.metadata } }))
    const commits = this.#attempt((store) => store.append(whole))
    const last = commits?.at(-1)
    if (last === undefined) return
    this.#head = last.hash
    if (last.content.content_type !== 'prompt') this.#link(last.hash, this.#early.splice(0))
  }

  #link(hash: string, envelopes: readonly EnvelopeLink[]): void {
    if (envelopes.length > 0) this.#attempt((store) => store.link(hash, envelopes))
  }

  #toPrompt({ messages, tools, settings, ...model }: SentPrompt): PromptContent {
    const { mask, mode } = this.#options
    const isFull = mode === 'full'
    const offered = measure(JSON.stringify(tools))
    const system = measure(JSON.stringify(messages[0] ?? null)).hash
    const last = this.#sent
    this.#sent = { count: messages.length, system, tools: offered.hash }
    const earlier = system === last.system ? last.count : 0
    const added = messages.slice(earlier).map((message): SentMessage => {
      const json = JSON.stringify(message)
      return { role: message.role, ...measure(json), ...(isFull && { message: mask.json(message) }) }
    })
    const chars = added.reduce((sum, each) => sum + each.chars, 0)
    const counts = [`${added.length} messages`, `${chars} characters`, `${tools.length} tools`]
    return {
      content_type: 'prompt',
      text: `${earlier === 0 ? '' : 'and '}${counts.join(', ')} to ${model.model}`,
      ...model,
      settings: mask.json(settings) as Record<string, unknown>,
      earlier,
      messages: added,
      tools: {
        count: tools.length,
        hash: offered.hash,
        ...(isFull && offered.hash !== last.tools && { offered: tools.map((tool) => mask.json(tool)) }),
      },
    }
  }
}

const measure = (text: string): { readonly chars: number; readonly hash: string } => ({
  chars: text.length,
  hash: bytesToHex(sha256(utf8ToBytes(text))),
})
