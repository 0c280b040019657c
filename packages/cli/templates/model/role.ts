import type { AgentOptions } from '@meup/agent-sdk'

/** What the model is told, and which tools it has. */
export const role = {
  instructions:
    'You advise whether to deploy. Look at the files, which are in the folder ".", and base your answer on them alone.',
  tools: ['files/list_directory', 'files/read_text_file'],
} satisfies Partial<AgentOptions>
