import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import type { AgentOptions } from '@meup/agent-sdk'
import { reviewerScript } from './script.js'

type Environment = Readonly<Record<string, string | undefined>>
type ChosenModel = Pick<AgentOptions, 'model' | 'baseURL' | 'apiKey'>

/** Exit code that tells `meup up` not to restart this program: `EX_CONFIG` of sysexits.h. */
const wrongConfiguration = 78

/**
 * Chooses the model that MODEL names, as `vendor/name`. It is used with the key of that vendor or through the AI Gateway, which
 * has models of all vendors; `openai-compatible/name` is at MODEL_BASE_URL. Without MODEL, a script plays the model. Ends the
 * program with one line if a variable is missing.
 */
export function chooseModel(env: Environment): ChosenModel {
  const { MODEL, AI_GATEWAY_API_KEY } = env
  if (!MODEL) return { model: reviewerScript() }
  const [vendor = '', name = ''] = MODEL.split(/\/(.*)/s)
  const { needs, choose } = vendors[vendor] ?? gateway
  const value = env[needs]
  if (name !== '' && value) return choose(name, value, env)
  if (name !== '' && AI_GATEWAY_API_KEY && vendor !== compatible) return { model: MODEL }
  console.error(
    name === ''
      ? `MODEL=${MODEL} needs a vendor; write vendor/name, such as openai/${MODEL}`
      : `MODEL=${MODEL} needs ${needs}; set it, or leave MODEL out to run the example with a script`,
  )
  return process.exit(wrongConfiguration)
}

interface Vendor {
  /** The environment variable that the vendor requires. */
  readonly needs: string
  choose(name: string, value: string, env: Environment): ChosenModel
}

const compatible = 'openai-compatible'

const vendors: Readonly<Record<string, Vendor>> = {
  anthropic: {
    needs: 'ANTHROPIC_API_KEY',
    choose: (name, apiKey) => ({ model: createAnthropic({ apiKey })(name) }),
  },
  openai: { needs: 'OPENAI_API_KEY', choose: (name, apiKey) => ({ model: createOpenAI({ apiKey })(name) }) },
  [compatible]: {
    needs: 'MODEL_BASE_URL',
    choose: (model, baseURL, { MODEL_API_KEY: apiKey }) => ({ model, baseURL, ...(apiKey && { apiKey }) }),
  },
}

/** The AI Gateway, for all vendors that are not listed. */
const gateway: Vendor = { needs: 'AI_GATEWAY_API_KEY', choose: (_, __, { MODEL = '' }) => ({ model: MODEL }) }
