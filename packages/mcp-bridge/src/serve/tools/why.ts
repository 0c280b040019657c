import { dataResult } from '../results.js'
import type { SpaceService } from '../service.js'
import { addTool, describeTool, type OwnTools } from './tool.js'

interface WhyArgs {
  readonly ref: string
  readonly limit?: number
}

const ref = 'id or seq of an envelope: an answer, a tool call, a refusal'

const explaining = describeTool<WhyArgs>({
  title: 'Why something happened',
  description:
    'Explains an answer, a tool call or a refusal: the steps across agents that led to it, in the order of the log, with the right that allowed it and its place in the hash chain. The step with rank 1 is where to look first.',
  input: {
    ref: { type: 'string', minLength: 1, maxLength: 64, description: ref },
    limit: { type: 'integer', minimum: 1, maximum: 200, description: 'steps at most; default 40' },
  },
  required: ['ref'],
  annotations: { readOnlyHint: true },
})

/** Default number of steps in an explanation of what led to an envelope, chosen so that a model can read them. */
const defaultSteps = 40

export function addWhy(tools: OwnTools, { space }: SpaceService): void {
  addTool(tools, 'why', explaining, async ({ ref, limit = defaultSteps }) =>
    dataResult({ ...(await space.why(ref, { limit })) }),
  )
}
