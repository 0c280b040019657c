import type { JsonSchema } from '@meup/protocol'
import { maxAnswers } from '../ag-ui/input.js'
import { arrayOf, object, text } from './schemas.js'

const anything: JsonSchema = {}

/** What a client of AG-UI sends, as far as a space has a use for it. */
export function runSchemas(): Record<string, JsonSchema> {
  const message = object(
    { id: text, role: text, content: anything, toolCalls: arrayOf(object({ id: text })) },
    ['content', 'toolCalls'],
  )
  const decision = object({ approved: { type: 'boolean' }, reason: text }, ['reason'])
  const wishes = object(
    {
      agent: { ...text, description: 'who is asked' },
      timeoutSeconds: { type: 'number', exclusiveMinimum: 0, maximum: 3600, default: 300 },
      cancelOnDisconnect: { type: 'boolean', default: false },
    },
    ['agent', 'timeoutSeconds', 'cancelOnDisconnect'],
  )
  const resume = object(
    { interruptId: text, status: { enum: ['resolved', 'cancelled'] }, payload: decision },
    ['payload'],
  )
  return {
    run: {
      ...object(
        {
          threadId: text,
          runId: text,
          messages: { ...arrayOf(message), description: 'the last one of the user is asked' },
          resume: { ...arrayOf(resume), maxItems: maxAnswers, description: 'decides about proposals' },
          forwardedProps: wishes,
        },
        ['resume', 'forwardedProps'],
      ),
      description: 'a `RunAgentInput` of AG-UI 1.0; its other fields are left alone',
    },
  }
}
