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
import { cancellation, decisions, idsFor, question, type RunInput, readRunInput } from './input.js'
import { Run } from './run.js'

/** `POST /spaces/{space}/ag-ui`: asks an agent, and shows what it makes of that as a run of AG-UI. */
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
  const agent = agentFor(input.wishes.agent ?? query.agent, visitor)
  if (typeof agent !== 'string') return refused(agent)
  const connectRequest = readConnectRequest(context, options)
  const makeId = idsFor(connectRequest.token ?? '') // Posting requires a token.
  const decided = decisions(makeId, input.answers, visitor)
  if (isRefusal(decided)) return refused(decided)
  const grant = await options.gateway.admit(connectRequest)
  if (isRefusal(grant)) return refused(grant)

  const { space, participant } = visitor
  const asking = question(makeId, input, agent, participant)
  const asked = await submit(visitor, createSender(visitor), asking.bytes)
  if (isRefusal(asked)) return refused(asked)
  let last = asked.seq
  for (const { bytes } of decided.frames) {
    const outcome = await submit(visitor, createSender(visitor), bytes)
    if (isRefusal(outcome)) return refused(outcome)
    last = Math.max(last, outcome.seq)
  }
  if (!(await space.committed(last))) return notCommitted()

  const fare = createWorkAccount(visitor)
  const run = createRun(input, { visitor, id: asking.id, agent, after: decided.latest }, fare)
  const events = openFeed(context, options)
  const feed = new RunFeed(run, events, fare)
  const { timeoutSeconds, cancelOnDisconnect } = input.wishes
  const late = `no answer came in ${timeoutSeconds} s; send the same message again to go on waiting`
  const stop = at(space.clock.now() + timeoutSeconds * 1000, () => feed.fail('timeout', late), space.clock)
  const { ended } = events
  void ended.then(() => {
    stop()
    if (!cancelOnDisconnect || run.isOver || !visitor.isWelcome()) return
    void accept(space, createSender(visitor), cancellation(makeId, asking.id, agent).bytes)
  })
  follow(feed, { visitor, grant, after: asked.seq - 1, ended }).catch((err: unknown) => {
    options.logger.error({ space: space.config.name, participant, err }, 'a run of AG-UI cannot go on')
    feed.fail('unavailable', 'the log cannot be read; send the same message again later')
  })
  return respondFeed(events, context, options)
}

/** Whom the chat is for; the only agent of a space need not be named. */
function agentFor(named: string | undefined, { space, participant }: Caller): string | Refusal {
  const { participants } = space.config
  const agents = Object.keys(participants).filter((id) => participants[id]?.kind === 'agent')
  const agent = named ?? (agents.length === 1 ? agents[0] : undefined)
  if (agent === undefined) {
    const message = `say which agent is asked, as forwardedProps.agent or ?agent=; there are ${agents.length}`
    return refuse('invalid_request', message)
  }
  if (agent === participant) return refuse('invalid_request', 'nobody can ask oneself; name another agent')
  if (space.state.participants.has(agent)) return agent
  return refuse('participant_not_found', `there is no participant ${agent} here; name one of the space`)
}

interface Question {
  readonly visitor: Caller
  /** Of the chat. */
  readonly id: string
  readonly agent: string
  /** What came up to this seq was told in a run before. */
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
