import { getErrorMessage } from '@meup/protocol'
import type { AgentPrompt } from './prompt.js'

/** Milliseconds after a cancel until the agent is killed: if a tool still runs, and if the agent has not answered. */
const [toolGraceMs, answerGraceMs] = [2000, 10_000]

interface Parts {
  /** Kills the agent with its child processes. */
  restart(why: string): Promise<void>
  readonly log: (line: string) => void
}

/** Cancels an agent's prompt when its turn is aborted or `stop` is called; kills an agent that does not stop in time. */
export class Stopper {
  readonly #signal: AbortSignal
  readonly #parts: Parts
  #prompt: AgentPrompt | undefined
  #cancel: (() => Promise<void>) | undefined
  #tool: NodeJS.Timeout | undefined
  #answer: NodeJS.Timeout | undefined
  #isStopping = false
  readonly #onAbort = (): void => this.stop()

  constructor(signal: AbortSignal, parts: Parts) {
    this.#signal = signal
    this.#parts = parts
    if (signal.aborted) this.stop()
    else signal.addEventListener('abort', this.#onAbort)
  }

  /** Must be called when the prompt has begun. `cancel`: sends the cancel to the agent. */
  follow(prompt: AgentPrompt, cancel: () => Promise<void>): void {
    this.#prompt = prompt
    this.#cancel = cancel
    if (this.#isStopping) this.#stopPrompt()
  }

  stop(): void {
    if (this.#isStopping) return
    this.#isStopping = true
    this.#stopPrompt()
    this.#tool = setTimeout(
      () => this.#prompt?.hasRunning && this.#kill('a tool went on after a cancel'),
      toolGraceMs,
    )
    this.#answer = setTimeout(() => this.#kill('it did not answer a cancel'), answerGraceMs)
  }

  /**
   * Must be called when the agent has answered. If a command still runs after a cancel, the timer that kills the agent
   * continues.
   */
  close(): void {
    this.#signal.removeEventListener('abort', this.#onAbort)
    clearTimeout(this.#answer)
    if (this.#prompt?.hasRunning !== true) clearTimeout(this.#tool)
  }

  #stopPrompt(): void {
    this.#prompt?.cancel()
    this.#cancel?.().catch(() => {}) // The agent has ended.
  }

  #kill(why: string): void {
    const { restart, log } = this.#parts
    restart(why).catch((error: unknown) => log(`it could not be stopped: ${getErrorMessage(error)}`))
  }
}
