import { join } from 'node:path'
import type { DialRequest } from '../client/transport.js'
import { type AgentOptions, systemClock, type TranscriptMode, transcriptModes } from '../model/options.js'
import { Recorder } from '../model/recorder.js'
import type { ModelAgent } from '../model/run-model-agent.js'
import { createMask } from '../transcript/mask.js'
import { beginDialogues } from './ai-sdk/ai-dialogue.js'
import { TranscriptFile } from './transcript-file.js'

/** Whose model it is. */
interface Owner {
  readonly id: string
  readonly request: DialRequest
  /** Called once, when the transcript cannot begin, or go on. */
  readonly onError: (error: unknown) => void
}

/** What it takes to answer with a model. Rejects where a package, or a setting, is missing. */
export async function openModels(options: AgentOptions, owner: Owner): Promise<ModelAgent> {
  const mode = chooseMode(options.transcript ?? process.env.MEUP_TRANSCRIPT)
  const begin = await beginDialogues(options)
  return { begin, recorder: await openRecorder(mode, options, owner) }
}

function chooseMode(given: string | undefined): TranscriptMode {
  const mode = transcriptModes.find((each) => each === (given || 'on'))
  if (mode === undefined)
    throw new TypeError(`MEUP_TRANSCRIPT is one of ${transcriptModes.join(', ')}, not ${given}`)
  return mode
}

/** An agent whose transcript cannot be kept answers all the same. */
async function openRecorder(
  mode: TranscriptMode,
  { clock = systemClock }: AgentOptions,
  { id, request, onError }: Owner,
): Promise<Recorder | undefined> {
  const { transcripts, safety, space, token = '' } = request
  if (mode === 'off' || transcripts === undefined) return undefined
  const now = (): number => clock.now()
  try {
    const file = await TranscriptFile.open(join(transcripts, `${id}.db`), { now })
    const failed = (error: unknown): void =>
      onError(new Error('a text could not be checked for secrets', { cause: error }))
    const mask = createMask(safety || {}, [token], failed)
    return new Recorder(file, { space, mode, mask, now, onError })
  } catch (error) {
    onError(new Error(`there is no transcript: ${String(error)}`, { cause: error }))
    return undefined
  }
}
