import type { LanguageModel } from 'ai'

type ModelV4 = Extract<LanguageModel, { readonly specificationVersion: 'v4' }>
type StreamPart =
  Awaited<ReturnType<ModelV4['doStream']>>['stream'] extends ReadableStream<infer Part> ? Part : never
type Finish = Extract<StreamPart, { type: 'finish' }>
type Attached = NonNullable<Finish['providerMetadata']>
export type ModelRequest = Parameters<ModelV4['doStream']>[0]

/** An action of a scripted model: think, write text, call a tool, wait for a function, fail, or stop. */
export type Deed =
  | { readonly reasoning: string; readonly attached?: Attached }
  | { readonly text: string; readonly attached?: Attached }
  | { readonly call: string; readonly input: object | string; readonly attached?: Attached }
  | { readonly wait: () => unknown }
  | { readonly error: unknown }
  | { readonly end: 'length' | 'content-filter' | 'broken' }

export interface ScriptedModelOptions {
  /**
   * Name of the model's provider; default: `scripted`. With the name of a real provider, reasoning is handled like that
   * provider's.
   */
  readonly provider?: string
  readonly modelId?: string
}

export type ScriptedModel = ModelV4 & {
  /** Requests that the model has received, in order. */
  readonly requests: readonly ModelRequest[]
}

/**
 * A model that answers by a script, for tests and demos: each request gets the next step, or the one that a function chooses.
 * Texts arrive word by word, and cost a token per word; a request without a step is rejected.
 */
export function scriptedModel(
  script: readonly (readonly Deed[])[] | ((request: ModelRequest, index: number) => readonly Deed[]),
  { provider = 'scripted', modelId = 'script' }: ScriptedModelOptions = {},
): ScriptedModel {
  const requests: ModelRequest[] = []
  const doStream: ModelV4['doStream'] = async (request) => {
    const index = requests.push(request) - 1
    const step = typeof script === 'function' ? script(request, index) : script[index]
    if (step === undefined) throw new Error(`the script has no step ${index + 1}`)
    return { stream: toStream(play(step, index), request.abortSignal) }
  }
  const doGenerate: ModelV4['doGenerate'] = async () => {
    throw new Error('a scripted model only streams')
  }
  return { specificationVersion: 'v4', provider, modelId, supportedUrls: {}, doGenerate, doStream, requests }
}

/** Maximum deltas of a text; a longer text has more words per delta. */
const maxDeltas = 1000

/** Yields the stream parts of one answer. */
async function* play(step: readonly Deed[], index: number): AsyncGenerator<StreamPart> {
  yield { type: 'stream-start', warnings: [] }
  let [spoken, thought, called] = [0, 0, 0]
  for (const [place, deed] of step.entries()) {
    const id = `${index + 1}-${place + 1}`
    if ('wait' in deed) await deed.wait()
    else if ('error' in deed) return yield { type: 'error', error: deed.error }
    else if ('end' in deed) {
      if (deed.end !== 'broken') yield finish(deed.end, spoken, thought)
      return
    } else if ('call' in deed) {
      called++
      const input = typeof deed.input === 'string' ? deed.input : JSON.stringify(deed.input)
      yield { type: 'tool-input-start', id, toolName: deed.call }
      yield { type: 'tool-input-delta', id, delta: input }
      yield { type: 'tool-input-end', id }
      yield { type: 'tool-call', toolCallId: id, toolName: deed.call, input, ...attachedTo(deed) }
    } else {
      const [kind, text] =
        'text' in deed ? (['text', deed.text] as const) : (['reasoning', deed.reasoning] as const)
      const words = text.match(/\S+\s*|\s+/g) ?? []
      const size = Math.ceil(words.length / maxDeltas)
      yield { type: `${kind}-start`, id }
      for (let at = 0; at < words.length; at += size) {
        yield { type: `${kind}-delta`, id, delta: words.slice(at, at + size).join('') }
      }
      yield { type: `${kind}-end`, id, ...attachedTo(deed) }
      if (kind === 'text') spoken += words.length
      else thought += words.length
    }
  }
  yield finish(called > 0 ? 'tool-calls' : 'stop', spoken, thought)
}

const attachedTo = ({ attached }: { readonly attached?: Attached }) =>
  attached === undefined ? {} : { providerMetadata: attached }

const finish = (unified: Finish['finishReason']['unified'], text: number, reasoning: number): Finish => ({
  type: 'finish',
  finishReason: { unified, raw: unified },
  usage: {
    inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: text + reasoning, text, reasoning },
  },
})

/** Fails when the request is aborted, like streams of providers. */
function toStream(
  parts: AsyncGenerator<StreamPart>,
  signal: AbortSignal | undefined,
): ReadableStream<StreamPart> {
  return new ReadableStream<StreamPart>({
    start(controller) {
      signal?.addEventListener('abort', () => controller.error(signal.reason), { once: true })
    },
    async pull(controller) {
      const { done, value } = await parts.next()
      if (signal?.aborted) return
      if (done) controller.close()
      else controller.enqueue(value)
    },
  })
}
