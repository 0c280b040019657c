import type { AgentOptions } from '@meup/agent-sdk'

/** Instructions and tools of the model. */
export const role = {
  instructions:
    'You advise whether to deploy. Look at the files, which are in the folder ".", and base your answer on them alone.',
  tools: ['files/list_directory', 'files/read_text_file'],
} satisfies Partial<AgentOptions>
