interface Template {
  readonly about: string
  /** The agent's name in the template's files. */
  readonly agent: string
  /** A suggested first question. */
  readonly question: string
}

/** Templates of `meup init`: folders of ../../templates. */
export const templates = {
  hello: {
    about: 'an agent that reads a report, without a model',
    agent: 'reviewer',
    question: 'Can we deploy?',
  },
  model: { about: 'a language model as an agent', agent: 'reviewer', question: 'Can we deploy?' },
  mcp: {
    about: 'tools of MCP servers, a space for MCP clients',
    agent: 'secretary',
    question: 'What fails?',
  },
  coder: {
    about: 'a coding agent that asks before it changes anything',
    agent: 'coder',
    question: 'The test fails. Fix it.',
  },
  supervised: {
    about: 'an agent that may only propose',
    agent: 'clerk',
    question: 'Archive march.txt',
  },
  team: {
    about: 'agents that work together, and you who approve what they write',
    agent: 'desk',
    question: 'Write a report about the tides.',
  },
} as const satisfies Record<string, Template>

export type TemplateName = keyof typeof templates

/** A model, its address, and the source of its API key. */
export interface ModelChoice {
  readonly provider: ProviderName
  readonly model: string
  /** The provider's address; empty except for `openai-compatible`. */
  readonly baseURL: string
  /** Environment variable with the API key; `''` if none is needed. */
  readonly key: string
}

export type ProviderName = keyof typeof providers

/** Model providers, with the proposed model and key variable. */
export const providers = {
  anthropic: { model: 'claude-sonnet-4-5', key: 'ANTHROPIC_API_KEY' },
  openai: { model: 'gpt-5.1', key: 'OPENAI_API_KEY' },
  google: { model: 'gemini-3-pro', key: 'GOOGLE_GENERATIVE_AI_API_KEY' },
  'openai-compatible': { model: 'qwen3', key: '' },
} as const

/** Base URL in the template's model.ts: a local Ollama. */
export const localURL = 'http://127.0.0.1:11434/v1'

/** Names and address of a new space. */
export interface Names {
  readonly space: string
  /** The user's participant id. */
  readonly person: string
  readonly agent: string
  readonly listen: string
}
