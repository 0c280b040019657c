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

/** Characters of the arguments, of a reason and of an error. */
const [maxArgumentChars, maxReasonChars, maxErrorChars] = [60, 100, 120]

/** A call as people read it: `read_text_file report.txt — what fails decides`. */
export interface ShownCall {
  readonly tool: string
  /** `''` = none. */
  readonly args: string
  readonly why: string
}

/** Proposals that are remembered. */
const maxProposals = 1000

/** Describes calls in the order of the log. An approval has no rationale of its own: it names the participant that proposed the call. */
export class CallDescriber {
  readonly #proposers = new Bounded<string>(maxProposals)

  /** `undefined` for a proposal. */
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

/** Shows only the text of a question; the form is for its addressee. */
function getShown(payload: Request['payload']): unknown {
  const { params } = payload
  return isElicitation({ ...payload }) ? { message: params?.message } : getParameters({ ...payload })
}

/** A single text unchanged, several as `name=value`. */
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
  // Nothing in it passes for a reason or an outcome.
  return /[✓✗—·]/.test(line) ? JSON.stringify(line) : line
}

/** ` report.txt — what fails decides` */
export const aboutCall = ({ args, why }: ShownCall): string =>
  `${args === '' ? '' : ` ${args}`}${why === '' ? '' : ` — ${why}`}`

/** `● read_text_file report.txt — what fails decides` */
export const callText = (call: ShownCall, mark: string, style: Style): string =>
  `${style.section(`${mark} `)}${style.tool(call.tool)}${style.section(aboutCall(call))}`

/** `✓ 48 B`, `✓ 3 documents found`, `✗ no such file`. */
export function outcomeMark({ payload }: Response): string {
  const { outcome, size, text } = readResult(payload, defaultGuard)
  if (outcome === 'error') return `✗ ${brief(text, maxErrorChars)}`
  if (size === null) return '✓'
  const { count, unit } = size
  if (unit === 'chars') return `✓ ${formatBytes(Buffer.byteLength(text))}`
  return `✓ ${unit === 'bytes' ? formatBytes(count) : `${count.toLocaleString('en')} ${unit}`}`
}
