import { canonicalJson, copyNumberTexts, omitUndefined, stringifyExact } from '@meup/protocol'
import type { CallResult, StepListener, WantedCall } from '../model/dialogue.js'
import type { AgentModel, ModelOptions, ModelSettings } from '../model/options.js'
import { isRecord } from '../model/rationale.js'
import { measureText, Recorder } from '../model/recorder.js'
import type { Offer, OfferedTool } from '../model/toolbox.js'
import type { LogEntry } from '../transcript/chain.js'
import type { AssistantContent, PromptContent, ToolContent } from '../transcript/content.js'
import { TranscriptError } from '../transcript/errors.js'
import { createMask, type Mask } from '../transcript/mask.js'
import { MemoryTranscript } from '../transcript/store.js'
import { resumeDialogue } from './ai-sdk/ai-dialogue.js'
import { importFrom } from './ai-sdk/load.js'
import { optionError } from './errors.js'

export interface ReplayOptions {
  /**
   * The answering model: a model object of the `ai` package, or `vendor/name`. The latter uses the package `@ai-sdk/vendor` if
   * `directory` has it, otherwise the AI Gateway. With a `baseURL`: the name of a model at that server. Default: the original
   * model.
   */
  readonly model?: AgentModel
  readonly baseURL?: string
  /** Replaces the original instructions. */
  readonly instructions?: string
  /** Sent to `baseURL` only, never to an address from the transcript. */
  readonly apiKey?: string
  /**
   * Decides whether prompts may be sent to the server named in the transcript, if no `baseURL` is given. The transcript may
   * come from anyone, so the address may be malicious. Default: `replayTurn` rejects with `unconfirmed_address`.
   */
  readonly confirmAddress?: (address: string) => boolean | Promise<boolean>
  /** Folder in which packages and models are looked up; default: the working directory. */
  readonly directory?: string
  readonly signal?: AbortSignal
}

/** The messages of a replayed turn, to compare them with the original. */
export interface Replayed {
  /** Prompts, reasoning, answers and tool results, in the form of a turn's transcript. */
  readonly entries: readonly LogEntry[]
  /** Number of messages that differ from the original, because secrets and the middle of long texts were not stored. */
  readonly changedMessages: number
}

/** Steps that the replay may have beyond those of the original turn. */
const moreSteps = 3

/**
 * Repeats a turn with a model. Calls get their recorded results; nothing is executed or sent to a space. Rejects with
 * `TranscriptError` if the prompts were not stored.
 */
export async function replayTurn(
  entries: readonly LogEntry[],
  options: ReplayOptions = {},
): Promise<Replayed> {
  const prompts = entries.flatMap(({ commit: { content } }) =>
    content.content_type === 'prompt' ? [content] : [],
  )
  const [first] = prompts
  if (first === undefined) throw new TranscriptError('prompts_not_stored', {})
  const [system, ...messages] = first.messages.map(readMessage)
  const { directory = process.cwd() } = options
  const begin = { system: options.instructions ?? String(system?.content ?? ''), messages }
  const dialogue = await resumeDialogue(await chooseModel(first, options, directory), begin, directory)
  const kept = new MemoryTranscript()
  // Masks secrets as in the original, so that both can be compared.
  const mask = createMask({}, [], () => {})
  const record = new Recorder(kept, { space: '', mode: 'full', mask, now: Date.now, onError: fail }).begin(
    '',
    undefined,
  )
  const results = new KeptResults(entries, mask)
  const steering = new Steering(first)
  const signal = options.signal ?? new AbortController().signal
  let offer: Offer = { tools: new Map(), instructions: new Map() }
  for (let step = 0; step < prompts.length + moreSteps; step++) {
    const then = prompts[step]
    offer = toOffer(then) ?? offer
    const added = steering.take(then)
    for (const message of added) dialogue.addMessage(message)
    if (step > 0 && added.length === 0 && isOver(kept)) break
    const begin = Date.now()
    const listener: StepListener = {
      send: (sent) => record.sent(sent),
      fail: (answer) => record.answered(answer, Date.now() - begin),
      think() {},
      say() {},
      restart() {},
      notice() {},
    }
    const answer = await dialogue.step(offer, listener, signal)
    signal.throwIfAborted()
    record.answered(answer, Date.now() - begin)
    record.settle()
    const found = answer.calls.map((call) => results.take(call))
    const missing = answer.calls.find((_, at) => found[at] === undefined)
    if (missing !== undefined) {
      const call = `${missing.name} ${stringifyExact(missing.input)}`
      record.failed(`The replay ends here: it calls ${call}, which was not called then, and no tool is run.`)
      break
    }
    const all = found.filter((each) => each !== undefined)
    if (all.length === 0) continue
    dialogue.addToolResults(all)
    record.results(all)
  }
  record.settle()
  const changed = prompts.flatMap(({ messages }) => messages).filter(isChanged).length
  return { entries: kept.entries(), changedMessages: changed }
}

const fail = (error: unknown): never => {
  throw error
}

/** Whether the last entry is a model's answer without calls. */
function isOver(kept: MemoryTranscript): boolean {
  const last = kept.entries().at(-1)?.commit.content
  return last?.content_type === 'assistant' && (last.toolCalls ?? []).length === 0
}

type Message = { readonly role: string; readonly content: unknown }

function readMessage({ message }: PromptContent['messages'][number]): Message {
  if (message !== undefined) return message as Message
  throw new TranscriptError('prompts_not_stored', {})
}

const isChanged = ({ message, hash }: PromptContent['messages'][number]): boolean =>
  measureText(JSON.stringify(message ?? null)).hash !== hash

/**
 * Finds the user messages that were added during the original turn. The other new messages of its later prompts are answers
 * and results, which the replay adds itself.
 */
class Steering {
  readonly #known: Set<string>

  constructor(first: PromptContent) {
    this.#known = new Set(first.messages.map(({ hash }) => hash))
  }

  take(prompt: PromptContent | undefined): Message[] {
    const added = (prompt?.messages ?? []).filter(
      ({ role, hash }) => role === 'user' && !this.#known.has(hash),
    )
    for (const { hash } of added) this.#known.add(hash)
    return added.map(readMessage)
  }
}

/** The tools offered to the model, which are not run; `undefined` if they equal those of the previous prompt. */
function toOffer(prompt: PromptContent | undefined): Offer | undefined {
  const offered = prompt?.tools.offered as readonly Pick<OfferedTool, 'name' | 'inputSchema'>[] | undefined
  const unused = { participant: '', rationaleKey: '', propertyNames: new Map<string, string>() }
  const tools = offered?.map((tool) => [tool.name, { ...tool, ...unused }] as const)
  return tools && { tools: new Map(tools), instructions: new Map() }
}

/** Recorded results of calls, each used once. */
class KeptResults {
  readonly #mask: Mask
  readonly #results: { readonly call: string; readonly result: CallResult }[]

  constructor(entries: readonly LogEntry[], mask: Mask) {
    this.#mask = mask
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
    const key = keyOf(name, this.#mask.json(input))
    const at = this.#results.findIndex(({ call }) => call === key)
    const [found] = at < 0 ? [] : this.#results.splice(at, 1)
    return found && { ...found.result, id }
  }
}

const encoder = new TextEncoder()

/** Returns a key that is the same for equal calls, whatever their rationale. */
function keyOf(name: string, input: unknown): string {
  const args = isRecord(input)
    ? copyNumberTexts(
        Object.fromEntries(Object.entries(input).filter(([key]) => !/^_rationale(_\d+)?$/.test(key))),
        input,
      )
    : (input ?? null)
  return `${name} ${canonicalJson(encoder.encode(String(stringifyExact(args))), 'input')}`
}

async function chooseModel(
  then: PromptContent,
  { model: wanted, apiKey, ...options }: ReplayOptions,
  directory: string,
): Promise<ModelOptions> {
  // Headers from a file could select another account or another host behind a proxy, so they are ignored; agents do not record
  // any.
  const { reasoningIsSummary, replayReasoning, headers: _, ...settings } = (then.settings ?? {}) as Then
  const common = { settings, ...omitUndefined({ reasoningIsSummary, replayReasoning }) }
  const model = wanted ?? then.model
  // A name without `/` is that of a model at the original server.
  const isThere = wanted === undefined || (typeof wanted === 'string' && !wanted.includes('/'))
  if (options.baseURL !== undefined)
    return { model, baseURL: options.baseURL, ...common, ...omitUndefined({ apiKey }) }
  if (isThere && then.baseURL !== undefined) {
    await mustBeConfirmed(then.baseURL, options.confirmAddress)
    return { model, baseURL: then.baseURL, ...common }
  }
  if (typeof model !== 'string') return { model, ...common }
  const name = wanted === undefined ? nameAtVendor(then) : model
  return { model: await loadNamed(name, directory), ...common }
}

async function mustBeConfirmed(address: string, confirm: ReplayOptions['confirmAddress']): Promise<void> {
  if (await confirm?.(address)) return
  throw new TranscriptError('unconfirmed_address', { address })
}

type Then = ModelSettings & Pick<ModelOptions, 'reasoningIsSummary' | 'replayReasoning'>

/** Formats `vendor/name`: the vendor of `openai.responses` is `openai`. */
const nameAtVendor = ({ provider = '', model }: PromptContent): string =>
  provider.endsWith('.gateway') ? model : `${provider.split('.')[0]}/${model}`

/** Loads the model from the vendor's package if installed; otherwise returns its name, for the AI Gateway. */
async function loadNamed(name: string, directory: string): Promise<AgentModel> {
  const [vendor = '', model] = name.split(/\/(.*)/s)
  if (!model || !/^[\w-]+$/.test(vendor)) throw optionError('unnamedVendor', { name })
  let exported: Record<string, unknown>
  try {
    exported = (await importFrom(directory, `@ai-sdk/${vendor}`)) as Record<string, unknown>
  } catch (cause) {
    if (process.env.AI_GATEWAY_API_KEY) return name
    throw optionError('vendor', { name, vendor: `@ai-sdk/${vendor}` }, { cause })
  }
  const create = exported[vendor.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())]
  if (typeof create !== 'function') throw optionError('unknownVendor', { vendor: `@ai-sdk/${vendor}` })
  return create(model) as AgentModel
}
