import { join } from 'node:path'
import { getErrorMessage } from '@meup/protocol'
import { Notice } from '../client/errors.js'
import type { DialRequest } from '../client/transport.js'
import { type AgentOptions, systemClock, type TranscriptMode, transcriptModes } from '../model/options.js'
import { createOutputSchema } from '../model/output-schema.js'
import { Recorder } from '../model/recorder.js'
import type { ModelAgent } from '../model/run-model-agent.js'
import { createMask } from '../transcript/mask.js'
import type { TranscriptStore } from '../transcript/store.js'
import { beginDialogues } from './ai-sdk/ai-dialogue.js'
import { listCredentials } from './credentials.js'
import { optionError } from './errors.js'
import { TranscriptFile } from './transcript-file.js'

/** The participant that the model answers for. */
interface Owner {
  readonly id: string
  readonly request: DialRequest
  /** Called once if the transcript cannot be opened or continued. */
  readonly onError: (error: unknown) => void
}

/** Loads the model and opens the transcript of an agent. Rejects if a package or a setting is missing. */
export async function openModels(options: AgentOptions, owner: Owner): Promise<ModelAgent> {
  const mode = chooseMode(options.transcript ?? process.env.MEUP_TRANSCRIPT)
  const output = options.output && (await createOutputSchema(options.output))
  const instructions = [options.instructions, output?.instructions].filter((each) => each !== undefined)
  const dialogues = await beginDialogues({
    ...options,
    ...(instructions.length > 0 && { instructions: instructions.join('\n\n') }),
  })
  return { ...dialogues, recorder: await openRecorder(mode, options, owner), output }
}

function chooseMode(given: string | undefined): TranscriptMode {
  const mode = transcriptModes.find((each) => each === (given || 'on'))
  if (mode === undefined) throw optionError('transcript', { given: String(given), modes: transcriptModes })
  return mode
}

/** Opens the transcript of an agent. The agent works without one if it cannot be stored. */
async function openRecorder(
  mode: TranscriptMode,
  options: AgentOptions,
  { id, request, onError }: Owner,
): Promise<Recorder | undefined> {
  if (mode === 'off') return undefined
  const { clock = systemClock } = options
  const { safety, space, token = '' } = request
  const now = (): number => clock.now()
  let hasFailed = false
  const failed = (name: string): void => {
    if (!hasFailed) onError(new Notice(`a text could not be checked for secrets, and is not kept: ${name}`))
    hasFailed = true
  }
  try {
    const mask = createMask(safety || {}, [token, ...listCredentials(options)], failed)
    const store = options.transcriptStore ?? (await openFile(id, request, now))
    return store && new Recorder(store, { space, mode, mask, now, onError })
  } catch (error) {
    onError(new Notice(`no transcript is kept: ${getErrorMessage(error)}`, { cause: error }))
    return undefined
  }
}

async function openFile(
  id: string,
  { transcripts }: DialRequest,
  now: () => number,
): Promise<TranscriptStore | undefined> {
  return transcripts === undefined ? undefined : TranscriptFile.open(join(transcripts, `${id}.db`), { now })
}
