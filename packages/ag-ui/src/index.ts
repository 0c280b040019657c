import { Bounded } from '@meup/folds'
import {
  accept,
  array,
  at,
  type Caller,
  createSender,
  type HttpOptions,
  isRefusal,
  notCommitted,
  object,
  openFeed,
  type Parameter,
  type Refusal,
  type RouteModule,
  readConnectRequest,
  readPost,
  refused,
  respondFeed,
  route,
  schemaRef,
  submit,
  textSchema,
} from '@meup/gateway/routes'
import { errorCodes, fillIn, ParticipantId } from '@meup/protocol'
import type { Context } from 'hono'
import { encodeDecisions, readExactText } from './approvals.js'
import { createRefusal, runTexts } from './errors.js'
import {
  createWorkAccount,
  encodeEvents,
  follow,
  isTurnOver,
  listParticipants,
  RunFeed,
  type WorkAccount,
} from './feed.js'
import {
  type AskingFrame,
  createIdMaker,
  encodeCancellation,
  encodeQuestion,
  type MakeId,
  makeQuestionId,
} from './frames.js'
import { defaultTimeoutSeconds, maxAnswers, maxTimeoutSeconds, type RunInput, readRunInput } from './input.js'
import { AgUiRun, emptyRunEvents, type ThoughtEvents, thoughtEvents } from './run.js'

const isParticipant = new RegExp(ParticipantId.pattern ?? '')

const agentParameter: Parameter<string> = {
  takes: 'a participant id',
  meaning: 'who is asked; needed unless the space has one agent, or the body names it',
  schema: textSchema,
  read: ([id, ...more]) => (id !== undefined && more.length === 0 && isParticipant.test(id) ? id : undefined),
}

const eventsParameter: Parameter<ThoughtEvents> = {
  takes: thoughtEvents.join(' or '),
  meaning: 'the events of thoughts; `thinking` for clients that know no REASONING_START, such as 0.0.42',
  schema: { enum: [...thoughtEvents], default: 'reasoning' },
  read: ([name, ...more]) => (more.length === 0 ? thoughtEvents.find((each) => each === name) : undefined),
}

/** The JSON schema of the `RunAgentInput` fields that a space uses. */
function describeInput() {
  const message = object(
    { id: textSchema, role: textSchema, content: {}, toolCalls: array(object({ id: textSchema })) },
    ['content', 'toolCalls'],
  )
  const decision = object({ approved: { type: 'boolean' }, reason: textSchema }, ['reason'])
  const settings = object(
    {
      agent: { ...textSchema, description: 'who is asked' },
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
    { interruptId: textSchema, status: { enum: ['resolved', 'cancelled'] }, payload: decision },
    ['payload'],
  )
  return {
    ...object(
      {
        threadId: textSchema,
        runId: textSchema,
        messages: { ...array(message), description: 'the last one of the user is asked, if there is one' },
        resume: { ...array(resume), maxItems: maxAnswers, description: 'decides about proposals' },
        forwardedProps: settings,
      },
      ['resume', 'forwardedProps'],
    ),
    description: 'a `RunAgentInput` of AG-UI 1.0; its other fields are ignored',
  }
}

/** The HTTP routes for AG-UI clients. A run asks an agent of a space, and streams its turn as AG-UI events. */
export const agUi: RouteModule = {
  schemas: () => ({ run: describeInput() }),
  routes: [
    route({
      method: 'post',
      path: '/spaces/{space}/ag-ui',
      operationId: 'run',
      summary: 'Asks an agent, and shows its turn as a run of AG-UI',
      auth: 'token',
      parameters: { agent: agentParameter, events: eventsParameter },
      body: schemaRef('run'),
      answer: {
        description: 'events of AG-UI 1.0, from `RUN_STARTED` to `RUN_FINISHED` or `RUN_ERROR`',
        content: { 'text/event-stream': textSchema },
      },
      refuses: errorCodes,
      handler: postRun,
    }),
  ],
}

/** Handles `POST /spaces/{space}/ag-ui`. */
async function postRun(
  context: Context,
  options: HttpOptions,
  query: { readonly agent: string | undefined; readonly events: ThoughtEvents | undefined },
): Promise<Response> {
  const post = await readPost(context, options)
  if (post instanceof Response) return post
  const { visitor, body } = post
  const input = readRunInput(body)
  if (isRefusal(input)) return refused(input)
  const agent = resolveAgent(input.settings.agent ?? query.agent, visitor)
  if (typeof agent !== 'string')
    return refused(agent, input.settings.agent === undefined ? {} : { path: '/forwardedProps/agent' })
  const { question: message } = input
  if (message === undefined) {
    // Clients start a run when they open, before their user has written a message: such a run ends at once.
    const events = openFeed(context, options)
    events.end(encodeEvents(emptyRunEvents(input)))
    return respondFeed(events, context, options)
  }
  const connectRequest = readConnectRequest(context, options)
  const makeId = createIdMaker(connectRequest.token ?? '') // `readPost` refuses requests without a token.
  const account = createWorkAccount(visitor)
  const { mayApprove } = account
  const decided = encodeDecisions(makeId, input.answers, { ...visitor, mayApprove })
  if (isRefusal(decided)) return refused(decided)
  const grant = await options.gateway.admit(connectRequest)
  if (isRefusal(grant)) return refused(grant)

  const { space, participant } = visitor
  const asking: AskingFrame = { asker: participant, agent, threadId: input.threadId, message }
  const chat = encodeQuestion(await chooseQuestionId(makeId, asking, input, visitor, account), asking)
  const asked = await submit(visitor, createSender(visitor), chat.bytes)
  if (isRefusal(asked)) return refused(asked)
  let last = asked.seq
  for (const { bytes } of decided.frames) {
    const outcome = await submit(visitor, createSender(visitor), bytes)
    if (isRefusal(outcome)) return refused(outcome)
    last = Math.max(last, outcome.seq)
  }
  if (!(await space.committed(last))) return notCommitted()

  const run = createRun(
    input,
    { visitor, id: chat.id, agent, after: decided.latest, thoughts: query.events ?? 'reasoning' },
    account,
  )
  const events = openFeed(context, options)
  const feed = new RunFeed(run, events, account, () => {
    if (run.isTurnOver) getRuns(space).end(chat.id)
  })
  const { timeoutSeconds, cancelOnDisconnect } = input.settings
  const late = fillIn(runTexts.late, { seconds: timeoutSeconds })
  const stop = at(space.clock.now() + timeoutSeconds * 1000, () => feed.fail('timeout', late), space.clock)
  const { ended } = events
  const cancel = async (): Promise<void> => {
    stop()
    if (!cancelOnDisconnect || run.isOver || !visitor.isWelcome()) return
    getRuns(space).end(chat.id)
    const outcome = await accept(
      space,
      createSender(visitor),
      encodeCancellation(makeId, chat.id, agent).bytes,
    )
    if (isRefusal(outcome)) throw new Error(outcome.message)
  }
  ended
    .then(cancel)
    .catch((err: unknown) => options.logger.warn({ participant, err }, 'a run of AG-UI was not cancelled'))
  follow(feed, { visitor, question: { id: chat.id, agent }, grant, after: asked.seq - 1, ended }).catch(
    (err: unknown) => {
      options.logger.error({ space: space.config.name, participant, err }, 'a run of AG-UI cannot continue')
      feed.fail('unavailable', runTexts.unreadable_log)
    },
  )
  return respondFeed(events, context, options)
}

/** Maximum number of run requests, and of questions, that are remembered to recognize repeated requests. */
const maxRemembered = 1000

/** Remembers the runs of a space in memory. If a run is forgotten, repeating its request may ask again. */
class RememberedRuns {
  /** Ids of the chats that asked a question, by run request: a repeated request continues its run instead of asking again. */
  readonly #byRequest = new Bounded<string>(maxRemembered)
  /** Whether a client has received the end of a turn, by the id of the chat that asked the question. */
  readonly #isShown = new Bounded<boolean>(maxRemembered)

  find(request: string): string | undefined {
    return this.#byRequest.get(request)
  }

  begin(request: string, question: string): void {
    this.#byRequest.set(request, question)
    this.#isShown.set(question, false)
  }

  end(question: string): void {
    this.#isShown.set(question, true)
  }

  /** Whether the run of a question ended before its turn, so that the same message continues it. */
  isBroken(question: string): boolean {
    return this.#isShown.get(question) === false
  }
}

const runsOfSpaces = new WeakMap<object, RememberedRuns>()

function getRuns(space: object): RememberedRuns {
  const runs = runsOfSpaces.get(space) ?? new RememberedRuns()
  runsOfSpaces.set(space, runs)
  return runs
}

/**
 * Chooses the id of a run's chat: that of the latest chat for this message, or a new id to regenerate the answer, if the turn
 * is over, a client has received its end, and has removed everything after the message. A repeated request with the same
 * `runId` does not ask again.
 */
async function chooseQuestionId(
  makeId: MakeId,
  asking: AskingFrame,
  { runId, answers }: RunInput,
  visitor: Caller,
  account: WorkAccount,
): Promise<string> {
  const { space } = visitor
  const runs = getRuns(space)
  const request = `${runId} ${makeQuestionId(makeId, asking, 1)}`
  const asked = runs.find(request)
  if (asked !== undefined) return asked
  let attempt = 1
  while (space.log.heading(makeQuestionId(makeId, asking, attempt + 1)) !== undefined) attempt++
  const latest = makeQuestionId(makeId, asking, attempt)
  const heading = space.log.heading(latest)
  const mayRegenerate =
    heading !== undefined && asking.message.isLast && answers.length === 0 && !runs.isBroken(latest)
  const isRegenerated =
    mayRegenerate &&
    (await isTurnOver(
      { visitor, question: { id: latest, agent: asking.agent }, after: heading.seq - 1 },
      account,
    ))
  const id = isRegenerated ? makeQuestionId(makeId, asking, attempt + 1) : latest
  runs.begin(request, id)
  return id
}

/** The agent to ask: the named one, otherwise the one that `frontDesk` of the space names, or its only agent. */
function resolveAgent(named: string | undefined, { space, participant }: Caller): string | Refusal {
  const { participants, frontDesk } = space.config
  const agents = Object.keys(participants).filter((id) => participants[id]?.kind === 'agent')
  const agent = named ?? frontDesk ?? (agents.length === 1 ? agents[0] : undefined)
  if (agent === undefined) return createRefusal('unnamed_agent', { count: agents.length })
  if (agent === participant) return createRefusal('own_agent', {})
  if (space.state.participants.has(agent)) return agent
  return createRefusal('unknown_agent', { agent })
}

interface Question {
  readonly visitor: Caller
  /** The id of the chat that contains the question. */
  readonly id: string
  readonly agent: string
  /** An earlier run has already sent the events up to this seq. */
  readonly after: number
  readonly thoughts: ThoughtEvents
}

function createRun(
  { threadId, runId, known }: RunInput,
  { visitor, id, agent, after, thoughts }: Question,
  { guard, mayApprove, mayReject }: WorkAccount,
): AgUiRun {
  const { space, participant } = visitor
  return new AgUiRun({
    threadId,
    runId,
    known,
    after,
    thoughts,
    guard,
    participants: listParticipants(visitor),
    question: { id, from: participant, agent },
    now: () => space.clock.now(),
    mayApprove,
    mayReject,
    readExactText: (proposal) => readExactText(visitor, proposal),
  })
}
