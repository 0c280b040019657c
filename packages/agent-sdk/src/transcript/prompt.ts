import type { ToolCall } from '../extract/index.js'
import type { Replay } from './content.js'

/** One message to a model, of the commit `hash`. How it looks in a request is up to the client. */
export type PromptMessage = { readonly hash: string } & (
  | { readonly type: 'user'; readonly role: 'user'; readonly text: string; readonly from?: string }
  | {
      readonly type: 'reasoning'
      /** What others thought is told to the model. */
      readonly role: 'assistant' | 'user'
      readonly text: string
      readonly from?: string
    }
  | {
      readonly type: 'assistant'
      readonly role: 'assistant'
      readonly text: string
      readonly toolCalls?: readonly ToolCall[]
      /** To be sent as it is: neither changed, nor in another order, nor as text. */
      readonly replay?: Replay
    }
  | {
      readonly type: 'tool'
      readonly role: 'tool'
      readonly callId: string
      readonly name: string
      readonly text: string
      readonly isError?: boolean
    }
)
