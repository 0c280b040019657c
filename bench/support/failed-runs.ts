import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** An envelope of a replayed run. `step`: the index of the recorded step that it comes from. */
export interface Sent {
  readonly from: string
  readonly step?: number
  readonly envelope: Readonly<Record<string, unknown>> & { readonly id: string }
}

/** A recorded run of agents that failed. */
export interface FailedRun {
  readonly file: string
  readonly question: string
  readonly steps: readonly Step[]
  /** Index of the step that decided the failure. */
  readonly decisive: number
}

interface Step {
  readonly from: string
  /** The type of the step: a thought, a hand-over to another agent, the output of a terminal, or a message to all. */
  readonly what: 'thought' | 'hand-over' | 'output' | 'message'
  readonly to?: string
  readonly text: string
}

interface Recorded {
  readonly question: string
  readonly mistake_step: string
  readonly history: readonly { readonly content: string; readonly name?: string; readonly role: string }[]
}

/** Reads the recorded runs of one part of the data, sorted by number. */
export function readFailedRuns(folder: string): FailedRun[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.json'))
  files.sort((one, other) => Number.parseInt(one, 10) - Number.parseInt(other, 10))
  return files.map((file) => {
    const { question, mistake_step, history } = JSON.parse(
      readFileSync(join(folder, file), 'utf8'),
    ) as Recorded
    const steps = history.map(({ name, role, content }) => readStep(name ?? role, content))
    return { file, question, steps, decisive: Number(mistake_step) }
  })
}

/**
 * Parses a step. In the recordings, a role may say in parentheses that it thinks, or to whom it speaks: `Planner (-> Coder)`.
 */
function readStep(role: string, text: string): Step {
  const [, name = role, note = ''] = /^(.*?) \((.*)\)$/.exec(role) ?? []
  const from = toId(name)
  const [, to] = /^-> (.+)$/.exec(note) ?? []
  if (to !== undefined) return { from, what: 'hand-over', to: toId(to), text }
  if (note === 'thought') return { from, what: 'thought', text }
  return { from, what: /terminal/i.test(name) ? 'output' : 'message', text }
}

const toId = (name: string): string => name.replace(/[^A-Za-z0-9._-]/g, '-')

const user = 'user'
/** Matches a code block in a message. */
const codeBlock = /```[^\n]*\n([\s\S]*?)(?:```|$)/g

/** Converts a run to the envelopes that its agents would have sent in a space; the answer is last. */
export function replay({ question, steps }: FailedRun): readonly Sent[] {
  const replayed = new Replay(!steps.some(({ what }) => what === 'hand-over'))
  replayed.ask(question)
  for (const [index, step] of steps.entries()) replayed.add(step, index, steps[index + 1])
  return replayed.sent
}

class Replay {
  readonly sent: Sent[] = []
  /** Whether agents speak in turn; otherwise one of them delegates to others, and continues with their answers. */
  readonly #isGroup: boolean
  /** Id of the envelope that the next message answers: the question, the previous message, or the last hand-over. */
  #about = 'question'
  /** Ids of open runs, by participant. */
  readonly #runs = new Map<string, string>()
  #call: string | undefined
  #last = user

  constructor(isGroup: boolean) {
    this.#isGroup = isGroup
  }

  ask(question: string): void {
    this.#send(user, undefined, { id: 'question', kind: 'chat', payload: { message: question } })
  }

  add(step: Step, index: number, next: Step | undefined): void {
    const { from, what, to, text } = step
    if (what === 'output') {
      this.#print(from, text, index)
      return
    }
    this.#last = from
    // The first step is the question, which was already sent.
    if (index === 0 && from === 'human') return
    if (what === 'thought') {
      this.#send(from, index, thought(`s${index}`, this.#openRun(from, index), text))
    } else if (what === 'hand-over') {
      const id = `s${index}`
      const context = this.#openRun(from, index)
      const payload = { message: text, ...(to !== undefined && { mentions: [to] }) }
      this.#send(from, index, { id, kind: 'chat', context, payload })
      this.#about = id
    } else if (next?.what === 'output') this.#execute(step, index, next.from)
    else this.#say(from, `s${index}`, text, index, next === undefined)
  }

  /** Sends a step with code, or one that a terminal answers, as a thought and a call of the terminal. */
  #execute({ from, text }: Step, index: number, terminal: string): void {
    const context = this.#openRun(from, index)
    const code = [...text.matchAll(codeBlock)].map(([, each = '']) => each).join('\n')
    this.#send(from, index, thought(`s${index}`, context, text.replace(codeBlock, '').trim() || '…'))
    this.#callTerminal(from, terminal, context, code, index, index)
  }

  #callTerminal(
    ...[from, terminal, context, code, index, step]: readonly [
      ...[from: string, terminal: string, context: string, code: string],
      ...[index: number, step: number | undefined],
    ]
  ): void {
    const id = `s${index}-call`
    const params = { name: 'execute', arguments: { code } }
    const payload = { jsonrpc: '2.0', id, method: 'tools/call', params }
    this.#send(from, step, { id, kind: 'mcp.request', to: [terminal], context, payload })
    this.#call = id
  }

  #print(from: string, text: string, index: number): void {
    const caller = this.#last
    if (this.#call === undefined)
      this.#callTerminal(caller, from, this.#openRun(caller, index), '', index, undefined)
    const call = this.#call ?? ''
    const exit = /^exitcode: (\d+)/.exec(text)?.[1]
    const result = { content: [{ type: 'text', text }], ...(exit !== '0' && { isError: true }) }
    const payload = { jsonrpc: '2.0', id: call, result }
    this.#send(from, index, { id: `s${index}`, kind: 'mcp.response', correlationId: call, payload })
    this.#call = undefined
    if (this.#isGroup) this.#handOn(caller, index)
  }

  /** Hands the question over, because in a group the next agent reads the terminal's output and continues. */
  #handOn(from: string, index: number): void {
    const id = `s${index}-next`
    const payload = { message: 'Please go on.', handOver: true }
    this.#send(from, undefined, { id, kind: 'chat', correlationId: this.#about, payload })
    this.#about = id
    this.#runs.delete(from)
  }

  #say(from: string, id: string, text: string, index: number, isLast: boolean): void {
    const owner = this.#runs.has(from) && isLast
    if (!owner) this.#openRun(from, index)
    const correlationId = owner ? 'question' : this.#about
    this.#send(from, index, { id, kind: 'chat', correlationId, payload: { message: text || '…' } })
    this.#about = id
    this.#runs.delete(from)
  }

  #openRun(from: string, index: number): string {
    const open = this.#runs.get(from)
    if (open !== undefined) return open
    const id = `r${index}`
    this.#send(from, undefined, { id, kind: 'reasoning.start', correlationId: this.#about })
    this.#runs.set(from, id)
    return id
  }

  #send(from: string, step: number | undefined, envelope: Sent['envelope']): void {
    this.sent.push({ from, ...(step !== undefined && { step }), envelope })
  }
}

const thought = (id: string, context: string, message: string): Sent['envelope'] => ({
  ...{ id, kind: 'reasoning.thought', context },
  payload: { message },
})
