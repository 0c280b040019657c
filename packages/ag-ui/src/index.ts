import type { Parameter, RouteModule } from '@meup/gateway/routes'
import { array, object, route, schemaRef, text } from '@meup/gateway/routes'
import { errorCodes, ParticipantId } from '@meup/protocol'
import { defaultTimeoutSeconds, maxAnswers, maxTimeoutSeconds } from './input.js'
import { postRun } from './post.js'

const isParticipant = new RegExp(ParticipantId.pattern ?? '')

const agent: Parameter<string> = {
  takes: 'a participant id',
  meaning: 'who is asked; needed unless the space has one agent, or the body names it',
  schema: text,
  read: ([id, ...more]) => (id !== undefined && more.length === 0 && isParticipant.test(id) ? id : undefined),
}

/** The fields of a `RunAgentInput` that a space uses. */
function describeInput() {
  const message = object({ id: text, role: text, content: {}, toolCalls: array(object({ id: text })) }, [
    'content',
    'toolCalls',
  ])
  const decision = object({ approved: { type: 'boolean' }, reason: text }, ['reason'])
  const settings = object(
    {
      agent: { ...text, description: 'who is asked' },
      timeoutSeconds: {
        type: 'number',
        exclusiveMinimum: 0,
        maximum: maxTimeoutSeconds,
        default: defaultTimeoutSeconds,
      },
      cancelOnDisconnect: { type: 'boolean', default: false },
    },
    ['agent', 'timeoutSeconds', 'cancelOnDisconnect'],
  )
  const resume = object(
    { interruptId: text, status: { enum: ['resolved', 'cancelled'] }, payload: decision },
    ['payload'],
  )
  return {
    ...object(
      {
        threadId: text,
        runId: text,
        messages: { ...array(message), description: 'the last one of the user is asked' },
        resume: { ...array(resume), maxItems: maxAnswers, description: 'decides about proposals' },
        forwardedProps: settings,
      },
      ['resume', 'forwardedProps'],
    ),
    description: 'a `RunAgentInput` of AG-UI 1.0; its other fields are ignored',
  }
}

/** The route for AG-UI frontends: asks an agent of a space and streams its turn. */
export const agUi: RouteModule = {
  schemas: () => ({ run: describeInput() }),
  routes: [
    route({
      method: 'post',
      path: '/spaces/{space}/ag-ui',
      operationId: 'run',
      summary: 'Asks an agent, and shows its turn as a run of AG-UI',
      auth: 'token',
      parameters: { agent },
      body: schemaRef('run'),
      answer: {
        description: 'events of AG-UI 1.0, from `RUN_STARTED` to `RUN_FINISHED` or `RUN_ERROR`',
        content: { 'text/event-stream': text },
      },
      refuses: errorCodes,
      handler: postRun,
    }),
  ],
}
