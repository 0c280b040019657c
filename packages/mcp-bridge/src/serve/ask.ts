import { ProtocolError } from '@meup/agent-sdk'
import {
  type CallToolResult,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { decideBy, formOf } from './elicitation.js'
import type { Question, TimedAnswer } from './questions.js'
import { turnEndedAt } from './resources.js'
import type { Desk, Ticket } from './service.js'
import { addressees, message } from './speech.js'
import { addTool, describeTool, explain, reporterOf, textResult, timeoutSeconds } from './tool.js'

interface AskArgs {
  readonly message: string
  readonly to?: readonly string[]
  readonly timeout_seconds?: number
}

const defaultSeconds = 300

const asking = describeTool<AskArgs>({
  title: 'Ask and wait for the answer',
  description:
    'Says something in the space and waits for the first answer. What is thought about it meanwhile is told as progress. The result names the resources that say how the answer came about.',
  input: { message, to: addressees, timeout_seconds: timeoutSeconds(defaultSeconds) },
  required: ['message'],
  annotations: { openWorldHint: true, destructiveHint: false },
})

/** `mayInterrupt`: whether what is proposed meanwhile is put to the user of this client in the middle of the call. */
export function addAsk(
  server: McpServer,
  desk: Desk,
  mayInterrupt: (context: ServerContext) => boolean,
): void {
  addTool(server, 'ask', asking, async (args, context) => {
    const question = await questionOf(desk, args, context)
    const report = reporterOf(context, desk.log)
    let thoughts = 0
    question.listener = report && ((thought) => report({ progress: ++thoughts, message: thought }))
    const { signal } = context.mcpReq
    const takeBack = (): void => question.takeBack('the asker has cancelled it')
    signal.addEventListener('abort', takeBack)
    if (signal.aborted) takeBack()
    try {
      const interruption = mayInterrupt(context) && (await interruptionOf(desk, question, context))
      return interruption || (await resultOf(desk, await question.answer))
    } finally {
      signal.removeEventListener('abort', takeBack)
      question.listener = undefined
    }
  })
}

/** A new one, or the one for which the client has come back, with what its user has decided meanwhile. */
async function questionOf(
  desk: Desk,
  { message: text, to, timeout_seconds: seconds = defaultSeconds }: AskArgs,
  { mcpReq }: ServerContext,
): Promise<Question> {
  const { questions, approvals } = desk
  const ticket = mcpReq.requestState<Ticket>()
  if (ticket === undefined) {
    const seen = approvals.list().map(({ id }) => id)
    return questions.ask(text, { timeoutMs: 1000 * seconds, seen, ...(to && { to }) })
  }
  const question = questions.get(ticket.question)
  if (question === undefined) {
    throw new ProtocolError('not_found', 'the question is long forgotten; ask it again')
  }
  for (const id of Object.keys(mcpReq.inputResponses ?? {})) {
    const response = inputResponse(mcpReq.inputResponses, id)
    if (response.kind === 'elicit' && response.action === 'accept') decideBy(desk, id, response.content)
  }
  return question
}

/** A form for what is proposed before the answer is there; the client comes back with it. */
async function interruptionOf(
  { approvals, tickets }: Desk,
  question: Question,
  context: ServerContext,
): Promise<InputRequiredResult | undefined> {
  const { signal } = context.mcpReq
  const enough = new AbortController()
  const answered = question.answer.then(
    () => undefined,
    () => undefined,
  )
  const proposed = approvals.next(question.seen, AbortSignal.any([signal, enough.signal]))
  const proposal = await Promise.race([answered, proposed])
  enough.abort()
  if (proposal === undefined) return undefined
  question.seen.add(proposal.id)
  const form = formOf(proposal, approvals.mayReject(proposal.id))
  return inputRequired({
    inputRequests: { [proposal.id]: inputRequired.elicit(form) },
    requestState: await tickets.mint({ question: question.id }, context),
  })
}

async function resultOf(
  { space, reading, uris, log }: Desk,
  { id, from, text, ts }: TimedAnswer,
): Promise<CallToolResult> {
  const turn = await turnEndedAt(reading, space.welcome.space.id, from, ts).catch((error: unknown) => {
    log(`the turn of the answer ${id} is not known: ${explain(error)}`)
    return undefined
  })
  const answer = { id, from, text }
  if (turn === undefined) return textResult([text], answer)
  const [reasoning, audit] = [uris.reasoning(from, turn), uris.auditOf(from, turn)]
  const where = `from ${from}; resources: ${reasoning} (why which tools), ${audit} (step by step)`
  return textResult([text, where], { ...answer, turn, reasoning, audit })
}
