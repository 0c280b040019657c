import {
  accept,
  at,
  type Caller,
  createSender,
  type HttpOptions,
  isRefusal,
  notCommitted,
  openFeed,
  type Refusal,
  readConnectRequest,
  readPost,
  refuse,
  refused,
  respondFeed,
  submit,
} from '@meup/gateway/routes'
import type { Context } from 'hono'
import { createWorkAccount, follow, RunFeed, type WorkAccount } from './feed.js'
import {
  createIdMaker,
  encodeCancellation,
  encodeDecisions,
  encodeQuestion,
  type RunInput,
  readRunInput,
} from './input.js'
import { Run } from './run.js'

/** `POST /spaces/{space}/ag-ui`: asks an agent, and streams its turn as a run of AG-UI. */
export async function postRun(
  context: Context,
  options: HttpOptions,
  query: { readonly agent: string | undefined },
): Promise<Response> {
  const post = await readPost(context, options)
  if (post instanceof Response) return post
  const { visitor, body } = post
  const input = readRunInput(body)
  if (isRefusal(input)) return refused(input)
  const agent = resolveAgent(input.settings.agent ?? query.agent, visitor)
  if (typeof agent !== 'string') return refused(agent)
  const connectRequest = readConnectRequest(context, options)
  const makeId = createIdMaker(connectRequest.token ?? '') // Posting requires a token.
  const decided = encodeDecisions(makeId, input.answers, visitor)
  if (isRefusal(decided)) return refused(decided)
  const grant = await options.gateway.admit(connectRequest)
  if (isRefusal(grant)) return refused(grant)

  const { space, participant } = visitor
  const chat = encodeQuestion(makeId, input, agent, participant)
  const asked = await submit(visitor, createSender(visitor), chat.bytes)
  if (isRefusal(asked)) return refused(asked)
  let last = asked.seq
  for (const { bytes } of decided.frames) {
    const outcome = await submit(visitor, createSender(visitor), bytes)
    if (isRefusal(outcome)) return refused(outcome)
    last = Math.max(last, outcome.seq)
  }
  if (!(await space.committed(last))) return notCommitted()

  const account = createWorkAccount(visitor)
  const run = createRun(input, { visitor, id: chat.id, agent, after: decided.latest }, account)
  const events = openFeed(context, options)
  const feed = new RunFeed(run, events, account)
  const { timeoutSeconds, cancelOnDisconnect } = input.settings
  const late = `No answer came in ${timeoutSeconds} s. Send the same message again to go on waiting.`
  const stop = at(space.clock.now() + timeoutSeconds * 1000, () => feed.fail('timeout', late), space.clock)
  const { ended } = events
  void ended.then(() => {
    stop()
    if (!cancelOnDisconnect || run.isOver || !visitor.isWelcome()) return
    void accept(space, createSender(visitor), encodeCancellation(makeId, chat.id, agent).bytes)
  })
  follow(feed, { visitor, grant, after: asked.seq - 1, ended }).catch((err: unknown) => {
    options.logger.error({ space: space.config.name, participant, err }, 'a run of AG-UI cannot go on')
    feed.fail('unavailable', 'The log cannot be read. Send the same message again later.')
  })
  return respondFeed(events, context, options)
}

/** The agent that is asked. The only agent of a space need not be named. */
function resolveAgent(named: string | undefined, { space, participant }: Caller): string | Refusal {
  const { participants } = space.config
  const agents = Object.keys(participants).filter((id) => participants[id]?.kind === 'agent')
  const agent = named ?? (agents.length === 1 ? agents[0] : undefined)
  if (agent === undefined) {
    const message = `The space has ${agents.length} agents. Name one as forwardedProps.agent or ?agent=.`
    return refuse('invalid_request', message)
  }
  if (agent === participant) return refuse('invalid_request', 'You cannot ask yourself. Name another agent.')
  if (space.state.participants.has(agent)) return agent
  return refuse('participant_not_found', `There is no participant ${agent} here. Name one of the space.`)
}

interface Question {
  readonly visitor: Caller
  /** Of the chat. */
  readonly id: string
  readonly agent: string
  /** Seq up to which an earlier run has sent events. */
  readonly after: number
}

function createRun(
  { threadId, runId, known }: RunInput,
  { visitor, id, agent, after }: Question,
  { guard, mayApprove }: WorkAccount,
): Run {
  const { space, participant } = visitor
  return new Run({
    threadId,
    runId,
    known,
    after,
    space: space.config.name,
    epoch: space.log.epoch,
    guard,
    question: { id, from: participant, agent },
    now: () => space.clock.now(),
    mayApprove,
  })
}
