import { canonicalJson } from '@meup/protocol'
import type { CallResult, WantedCall } from '../model/dialogue.js'
import type { AgentModel, ModelOptions, ModelSettings } from '../model/options.js'
import { isRecord } from '../model/rationale.js'
import { Recorder, type TurnRecorder } from '../model/recorder.js'
import type { Offer, OfferedTool } from '../model/toolbox.js'
import type { LogEntry } from '../transcript/chain.js'
import type { AssistantContent, PromptContent, ToolContent } from '../transcript/content.js'
import { TranscriptError } from '../transcript/errors.js'
import { MemoryTranscript } from '../transcript/store.js'
import { resumeDialogue } from './ai-sdk/ai-dialogue.js'
import { importFrom } from './ai-sdk/load.js'

export interface ReplayOptions {
  /**
   * Who answers: a model of the `ai` package, or `vendor/name`, whose package `@ai-sdk/vendor` is looked for in `directory`; else
   * it is asked for at the AI Gateway. With a `baseURL`, the name of a model there. Default: the model that answered then.
   */
  readonly model?: AgentModel
  readonly baseURL?: string
  readonly apiKey?: string
  /** Default: the working directory. */
  readonly directory?: string
  readonly signal?: AbortSignal
}

/** What a model said when it was asked the same again. */
export interface Replayed {
  /** Prompts, reasoning, answers and results, as the transcript of a turn has them. */
  readonly entries: readonly LogEntry[]
  /** Messages that are not what was sent then: secrets, and the middle of long texts, are not kept. */
  readonly changed: number
}

/** Answers beyond those of then that a model may need. */
const moreSteps = 3

/**
 * Sends the prompts of a turn again. Calls are answered with the results of then; nothing is executed, and nothing enters a space.
 * Rejects with `TranscriptError` where the prompts were not kept.
 */
export async function replayTurn(
  entries: readonly LogEntry[],
  options: ReplayOptions = {},
): Promise<Replayed> {
  const prompts = entries.flatMap(({ commit: { content } }) =>
    content.content_type === 'prompt' ? [content] : [],
  )
  const [first] = prompts
  if (first === undefined) throw new TranscriptError('nothing_to_answer', 'this turn has no prompt')
  const [system, ...messages] = first.messages.map(readMessage)
  const { directory = process.cwd() } = options
  const begin = { system: String(system?.content ?? ''), messages }
  const dialogue = await resumeDialogue(await chooseModel(first, options, directory), begin, directory)
  const kept = new MemoryTranscript()
  const record = recordTo(kept)
  const results = new KeptResults(entries)
  const offer = toOffer(prompts)
  const signal = options.signal ?? new AbortController().signal
  for (let step = 0; step < prompts.length + moreSteps; step++) {
    if (step > 0) addSteering(dialogue, prompts[step])
    const listener = {
      send: (sent: Parameters<TurnRecorder['sent']>[0]) => record.sent(sent),
      think() {},
      say() {},
    }
    const begin = Date.now()
    const answer = await dialogue.step(offer, listener, signal)
    signal.throwIfAborted()
    record.answered(answer, Date.now() - begin)
    if (answer.calls.length === 0) break
    const found = answer.calls.map((call) => results.take(call))
    const missing = answer.calls.find((_, at) => found[at] === undefined)
    if (missing !== undefined) {
      const call = `${missing.name} ${JSON.stringify(missing.input)}`
      record.failed(`The replay ends here: it calls ${call}, which was not called then, and no tool is run.`)
      break
    }
    const all = found.filter((each) => each !== undefined)
    dialogue.addToolResults(all)
    record.results(all)
  }
  record.settle()
  return {
    entries: kept.entries(),
    changed: prompts.flatMap(({ messages }) => messages).filter(isChanged).length,
  }
}

/** Texts are kept as they are: they come of a transcript, or go to the terminal of its owner. */
function recordTo(store: MemoryTranscript): TurnRecorder {
  const mask = { text: (text: string) => text, json: (value: unknown) => value }
  const fail = (error: unknown): never => {
    throw error
  }
  return new Recorder(store, { space: '', mode: 'full', mask, now: Date.now, onError: fail }).begin(
    '',
    undefined,
  )
}

type Message = { readonly role: string; readonly content: unknown }

function readMessage({ message }: PromptContent['messages'][number]): Message {
  if (message !== undefined) return message as Message
  throw new TranscriptError(
    'nothing_to_answer',
    'the prompts of this turn were not kept: that takes transcript: full',
  )
}

const isChanged = ({ message, chars }: PromptContent['messages'][number]): boolean =>
  JSON.stringify(message).length !== chars

/** What people said while the answer was made: all else of a later prompt comes of the answers before it. */
function addSteering(
  dialogue: { addMessage(message: object): void },
  prompt: PromptContent | undefined,
): void {
  for (const each of prompt?.messages ?? []) if (each.role === 'user') dialogue.addMessage(readMessage(each))
}

/** The tools that the model had, which nobody runs. */
function toOffer(prompts: readonly PromptContent[]): Offer {
  const offered = prompts.flatMap(
    ({ tools }) => (tools.offered ?? []) as Pick<OfferedTool, 'name' | 'inputSchema'>[],
  )
  const tools = offered.map((tool) => [tool.name, { ...tool, participant: '', rationaleKey: '' }] as const)
  return { tools: new Map(tools), instructions: new Map() }
}

/** Results of then, each to be given once. */
class KeptResults {
  readonly #results: { readonly call: string; readonly result: CallResult }[]

  constructor(entries: readonly LogEntry[]) {
    const contents = entries.map(({ commit }) => commit.content)
    const calls = new Map(
      contents
        .filter((content): content is AssistantContent => content.content_type === 'assistant')
        .flatMap(({ toolCalls = [] }) =>
          toolCalls.map((call) => [call.id, keyOf(call.name, call.arguments)]),
        ),
    )
    this.#results = contents
      .filter((content): content is ToolContent => content.content_type === 'tool')
      .flatMap(({ callId, name, text, isError = false }) => {
        const call = calls.get(callId)
        return call === undefined ? [] : [{ call, result: { id: callId, name, text, media: [], isError } }]
      })
  }

  take({ id, name, input }: WantedCall): CallResult | undefined {
    const key = keyOf(name, input)
    const at = this.#results.findIndex(({ call }) => call === key)
    const [found] = at < 0 ? [] : this.#results.splice(at, 1)
    return found && { ...found.result, id }
  }
}

const encoder = new TextEncoder()

/** The same for calls that do the same, whatever their reason is. */
function keyOf(name: string, input: unknown): string {
  const args = isRecord(input)
    ? Object.fromEntries(Object.entries(input).filter(([key]) => !/^_rationale(_\d+)?$/.test(key)))
    : (input ?? null)
  return `${name} ${canonicalJson(encoder.encode(JSON.stringify(args)), 'input')}`
}

async function chooseModel(
  then: PromptContent,
  options: ReplayOptions,
  directory: string,
): Promise<ModelOptions> {
  const { apiKey } = options
  const settings = { ...(then.settings as ModelSettings) }
  const model = options.model ?? then.model
  const baseURL = options.baseURL ?? (options.model === undefined ? then.baseURL : undefined)
  if (baseURL !== undefined) return { model, baseURL, settings, ...(apiKey !== undefined && { apiKey }) }
  if (typeof model !== 'string') return { model, settings }
  const name = options.model === undefined ? nameAtVendor(then) : model
  return { model: await loadNamed(name, directory), settings }
}

/** `vendor/name`, as the provider called itself: `openai.responses` is of `openai`. */
const nameAtVendor = ({ provider = '', model }: PromptContent): string =>
  provider.endsWith('.gateway') ? model : `${provider.split('.')[0]}/${model}`

/** A model of the vendor's package, if that is installed; else its name, for the AI Gateway. */
async function loadNamed(name: string, directory: string): Promise<AgentModel> {
  const [vendor = '', model] = name.split(/\/(.*)/s)
  if (!model || !/^[\w-]+$/.test(vendor)) throw new Error(`a model is named vendor/name, not ${name}`)
  let exported: Record<string, unknown>
  try {
    exported = (await importFrom(directory, `@ai-sdk/${vendor}`)) as Record<string, unknown>
  } catch (cause) {
    if (process.env.AI_GATEWAY_API_KEY) return name
    const advice = `install @ai-sdk/${vendor} here, or set AI_GATEWAY_API_KEY`
    throw new Error(`there is no model ${name}: ${advice}`, { cause })
  }
  const create = exported[vendor.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())]
  if (typeof create !== 'function') throw new Error(`@ai-sdk/${vendor} has no models that are known here`)
  return create(model) as AgentModel
}
