import {
  type ElicitRequestFormParams,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { ClientApprovals } from '../approvals/client-approvals.js'
import { createProgressReporter } from '../calls/client-notifications.js'
import type { TaskStart, TaskWork } from '../calls/tasks.js'
import { serveError } from '../errors.js'
import { createAskResult } from '../offers/resources.js'
import { failureResult, type ToolOutcome } from '../results.js'
import type { ResumeState, SpaceService } from '../service.js'
import type { SentQuestion } from './questions.js'
import { addressees, addTool, describeTool, message, type OwnTools, timeoutSeconds } from './tool.js'

interface AskArgs {
  readonly message: string
  readonly to?: readonly string[]
  readonly timeout_seconds?: number
}

const defaultSeconds = 300

const asking = describeTool<AskArgs>({
  title: 'Ask and wait for the answer',
  description:
    'Sends a message to the space and waits for the first answer. Thoughts, and parts of the answer, are sent as progress. The result names the resources that explain the answer.',
  input: { message, to: addressees, timeout_seconds: timeoutSeconds(defaultSeconds) },
  required: ['message'],
  annotations: { openWorldHint: true, destructiveHint: false },
})

/**
 * Adds the tool `ask`. `mayInterrupt`: whether a result may ask the client's user to decide a proposal before the answer
 * arrives.
 */
export function addAsk(
  tools: OwnTools,
  service: SpaceService,
  mayInterrupt: (context: ServerContext) => boolean,
  getApprovals: (context: ServerContext) => ClientApprovals,
): void {
  const begin = ({ message: text, to, timeout_seconds: seconds }: AskArgs, start: TaskStart): TaskWork => {
    const timeoutMs = seconds === undefined ? start.timeoutMs : 1000 * seconds
    const asked = { id: start.id, isTask: true, timeoutMs, seen: [], ...(to && { to }) }
    const question = service.questions.ask(text, asked)
    question.listener = (said) => start.onStatus({ message: said })
    return {
      result: question.answer.then((answer) => createAskResult(service, answer)).catch(failureResult),
      cancel: (reason) => question.cancel(reason),
    }
  }
  const handle = async (args: AskArgs, context: ServerContext): Promise<ToolOutcome> => {
    const decisions = getApprovals(context)
    const question = await getQuestion(service, decisions, args, context)
    const report = createProgressReporter(context, service.log)
    let reports = 0
    question.listener = report && ((text) => report({ progress: ++reports, message: text }))
    const { signal } = context.mcpReq
    const cancel = (): void => question.cancel('the asker has cancelled it')
    signal.addEventListener('abort', cancel)
    if (signal.aborted) cancel()
    try {
      const interruption =
        mayInterrupt(context) && (await getInterruption(service, decisions, question, context))
      return interruption || (await createAskResult(service, await question.answer))
    } finally {
      signal.removeEventListener('abort', cancel)
      question.listener = undefined
    }
  }
  addTool(tools, 'ask', asking, handle, begin)
}

/** Sends a new question, or returns the one that the client resumes, after applying its user's decisions about proposals. */
async function getQuestion(
  service: SpaceService,
  decisions: ClientApprovals,
  { message: text, to, timeout_seconds: seconds = defaultSeconds }: AskArgs,
  { mcpReq }: ServerContext,
): Promise<SentQuestion> {
  const { questions, approvals } = service
  const state = mcpReq.requestState<ResumeState>()
  if (state === undefined) {
    const seen = approvals.list().map(({ id }) => id)
    return questions.ask(text, { timeoutMs: 1000 * seconds, seen, ...(to && { to }) })
  }
  const question = questions.get(state.id)
  if (question === undefined) throw serveError('forgotten', { what: 'question' })
  for (const id of Object.keys(mcpReq.inputResponses ?? {})) {
    const response = inputResponse(mcpReq.inputResponses, id)
    if (response.kind === 'elicit' && response.action === 'accept') decisions.applyForm(id, response.content)
  }
  return question
}

/**
 * Waits until a proposal is open that the client's user may decide, or the question is answered. Returns the form for the
 * proposal; the client repeats the call with the filled-in form. `undefined` = the answer came first.
 */
async function getInterruption(
  { approvals, stateCodec }: SpaceService,
  decisions: ClientApprovals,
  question: SentQuestion,
  context: ServerContext,
): Promise<InputRequiredResult | undefined> {
  const { signal } = context.mcpReq
  const enough = new AbortController()
  const answered = question.answer.then(
    () => undefined,
    () => undefined,
  )
  const until = AbortSignal.any([signal, enough.signal])
  const next = async (): Promise<{ id: string; form: ElicitRequestFormParams } | undefined> => {
    for (;;) {
      const proposal = await approvals.next(question.seen, until)
      if (proposal === undefined) return undefined
      question.seen.add(proposal.id)
      const form = decisions.createForm(proposal.id)
      if (form !== undefined) return { id: proposal.id, form }
    }
  }
  const proposal = await Promise.race([answered, next()])
  enough.abort()
  if (proposal === undefined) return undefined
  return inputRequired({
    inputRequests: { [proposal.id]: inputRequired.elicit(proposal.form) },
    requestState: await stateCodec.mint({ id: question.id }, context),
  })
}
