import {
  Bounded,
  brief,
  defaultGuard,
  getCallRationale,
  getParameters,
  isElicitation,
  isObject,
  onOneLine,
  readResult,
  redact,
  type Style,
  shortenArguments,
  shownToolName,
} from '@meup/folds'
import {
  type AnyEnvelope,
  correlations,
  type EnvelopeOf,
  getNumberText,
  Kind,
  stringifyExact,
} from '@meup/protocol'
import { formatBytes } from '../lib/output.js'

type Request = EnvelopeOf<typeof Kind.mcpRequest>
type Response = EnvelopeOf<typeof Kind.mcpResponse>

const [maxArgumentChars, maxReasonChars, maxErrorChars] = [60, 100, 120]

/** A call as shown to users: `read_text_file report.txt — what fails decides`. */
export interface ShownCall {
  readonly tool: string
  readonly args: string
  readonly why: string
}

/** Maximum number of proposals whose proposers are remembered, to be named at the approval. */
const maxProposals = 1000

/** Describes calls, in log order. An approval without its own rationale names the participant that proposed the call. */
export class CallDescriber {
  readonly #proposers = new Bounded<string>(maxProposals)

  /** Returns `undefined` for a proposal, which is only remembered. */
  describe(envelope: AnyEnvelope): ShownCall | undefined {
    if (envelope.kind !== Kind.mcpRequest) {
      this.#proposers.set(envelope.id, envelope.from)
      return undefined
    }
    const shown = describeCall(envelope)
    const [proposer] = correlations(envelope).flatMap((id) => this.#proposers.get(id) ?? [])
    const isOwn = proposer === undefined || envelope.rationale !== undefined
    return isOwn ? shown : { ...shown, why: `proposed by ${onOneLine(proposer)}` }
  }
}

function describeCall(request: Request): ShownCall {
  const { to = [], payload } = request
  return {
    tool: onOneLine(isElicitation({ ...payload }) ? `asks ${to.join(', ')}` : shownToolName(payload)),
    args: formatArguments(redact(getShown(payload), defaultGuard).value),
    why: brief(getCallRationale({ ...request }), maxReasonChars),
  }
}

/** The parameters to show: for an elicitation only its message, because the form is shown to its addressee. */
function getShown(payload: Request['payload']): unknown {
  const { params } = payload
  return isElicitation({ ...payload }) ? { message: params?.message } : getParameters({ ...payload })
}

/** Formats arguments: a single text as it is, several arguments as `name=value`. */
function formatArguments(value: unknown): string {
  if (!isObject(value)) return ''
  const members = Object.entries(value)
  const text = (name: string, each: unknown): string =>
    typeof each === 'string' ? each : (getNumberText(value, name) ?? String(stringifyExact(each)))
  const [only] = members
  const isOne = members.length === 1 && only !== undefined && typeof only[1] === 'string'
  const listed = (): string => members.map(([name, each]) => `${name}=${text(name, each)}`).join(' ')
  const shown = shortenArguments(value) ?? (isOne ? String(only[1]) : listed())
  const line = brief(onOneLine(shown), maxArgumentChars)
  // Quotes arguments that contain symbols, which could look like a reason or an outcome.
  return /[✓✗—·]/.test(line) ? JSON.stringify(line) : line
}

/** The arguments and the reason of a call: ` report.txt — what fails decides`. */
export const aboutCall = ({ args, why }: ShownCall): string =>
  `${args === '' ? '' : ` ${args}`}${why === '' ? '' : ` — ${why}`}`

/** A call's line: `● read_text_file report.txt — what fails decides`. */
export const callText = (call: ShownCall, mark: string, style: Style): string =>
  `${style.section(`${mark} `)}${style.tool(call.tool)}${style.section(aboutCall(call))}`

/** The outcome of a call: `✓ 48 B`, `✓ 3 documents found`, `✗ no such file`. */
export function outcomeMark({ payload }: Response): string {
  const { outcome, size, text } = readResult(payload, defaultGuard)
  if (outcome === 'error') return `✗ ${brief(text, maxErrorChars)}`
  if (size === null) return '✓'
  const { count, unit } = size
  if (unit === 'chars') return `✓ ${formatBytes(Buffer.byteLength(text))}`
  return `✓ ${unit === 'bytes' ? formatBytes(count) : `${count.toLocaleString('en')} ${unit}`}`
}
