import { maxWhySteps, phaseLabels } from '@meup/folds'
import {
  anyContext,
  Envelope,
  EnvelopeId,
  GATEWAY,
  ParticipantId,
  type Phase,
  parseContext,
  SpaceName,
  Timestamp,
} from '@meup/protocol'
import { type Refusal, refuse } from '../core/refusal.js'
import { texts } from '../core/refusal-texts.js'

/** One query parameter: its schema, and how it is parsed; `undefined` = invalid. */
export interface Parameter<Value> {
  readonly takes: string
  readonly meaning: string
  /** JSON Schema of its value. */
  readonly schema: Readonly<Record<string, unknown>>
  read(texts: readonly string[]): Value | undefined
}

const maxNames = 64
const maxTextChars = 256

/** A parameter that may be given once only. */
const single = <Value>(
  fields: Omit<Parameter<Value>, 'read'>,
  read: (text: string) => Value | undefined,
): Parameter<Value> => ({
  ...fields,
  read: ([text, ...more]) => (text === undefined || more.length > 0 ? undefined : read(text)),
})

const whole = (minimum: number, meaning: string, maximum = Number.MAX_SAFE_INTEGER): Parameter<number> => {
  const isBounded = maximum < Number.MAX_SAFE_INTEGER
  const takes = `a whole number from ${minimum}${isBounded ? ` to ${maximum}` : ''}`
  const schema = { type: 'integer', minimum, ...(isBounded && { maximum }) }
  return single({ takes, meaning, schema }, (text) => {
    const value = Number(text)
    return /^\d{1,16}$/.test(text) && value >= minimum && value <= maximum ? value : undefined
  })
}

const oneOf = <Word extends string>(words: readonly Word[], meaning: string): Parameter<Word> =>
  single({ takes: words.join(' or '), meaning, schema: { enum: words } }, (text) =>
    words.find((word) => word === text),
  )

/** A parameter that may be repeated, or contain comma-separated names. */
const names = (takes: string, meaning: string, isOne: (text: string) => boolean): Parameter<string[]> => ({
  takes: `${takes} (several with commas, at most ${maxNames})`,
  meaning,
  schema: { type: 'array', items: { type: 'string' }, maxItems: maxNames },
  read: (texts) => {
    const all = texts.flatMap((text) => text.split(','))
    return all.length <= maxNames && all.every(isOne) ? all : undefined
  },
})

const pattern = ({ pattern = '' }: { pattern?: string }): ((text: string) => boolean) => {
  const regex = new RegExp(pattern)
  return (text) => regex.test(text)
}
const isParticipant = pattern(ParticipantId)
const isId = pattern(EnvelopeId)
const isTimestamp = pattern(Timestamp)
const isSpace = pattern(SpaceName)
const isThread = (text: string): boolean => {
  const [space = '', agent = '', ...more] = text.split('/')
  return isSpace(space) && isParticipant(agent) && more.length === 0
}
const phases = Object.keys(phaseLabels) as Phase[]

/** A time as a parameter; parsed to milliseconds since the epoch. */
const time = (meaning: string): Parameter<number> =>
  single({ takes: 'a time, such as 2026-01-02T03:04:05Z', meaning, schema: { type: 'string' } }, (text) => {
    const ms = Date.parse(text)
    return isTimestamp(text) && !Number.isNaN(ms) ? ms : undefined
  })

/** Every parameter of the routes that show what is in the log [MEUP-11.3, 11.4, 11.6]. */
export const parameters = {
  after: whole(0, 'only envelopes with a greater seq'),
  before: whole(1, 'only envelopes with a smaller seq, or turns with a smaller number'),
  limit: whole(1, 'maximum number; default 100, for turns and hits 20', 1000),
  order: oneOf(['asc', 'desc'], 'by seq; default asc'),
  epoch: single(
    {
      takes: 'an epoch id',
      meaning: 'the log that `after` counts in; needed with it, unless that is 0',
      schema: { type: 'string' },
    },
    (text) => text,
  ),
  kind: names('a kind, such as chat', 'only these kinds', pattern(Envelope.properties.kind)),
  from: names(
    'a participant id',
    'only envelopes from these participants',
    (text) => text === GATEWAY || isParticipant(text),
  ),
  context: single(
    {
      takes: 'a context, such as run or run/step',
      meaning: 'only envelopes in this context or below it',
      schema: { type: 'string' },
    },
    (text) => (parseContext(text, anyContext) === undefined ? undefined : text),
  ),
  correlationId: single(
    {
      takes: 'an envelope id',
      meaning: 'only envelopes that answer this one',
      schema: { type: 'string' },
    },
    (text) => (isId(text) ? text : undefined),
  ),
  reasoning: oneOf(
    ['full', 'boundaries', 'none'],
    'full cuts no reasoning; boundaries all but starts, conclusions and cancels; none all but starts of runs',
  ),
  since: time('only envelopes from then on'),
  until: time('only envelopes before then'),
  thread_id: single(
    {
      takes: 'a thread, such as demo/ben',
      meaning: 'only the turns of this agent',
      schema: { type: 'string' },
    },
    (text) => (isThread(text) ? text : undefined),
  ),
  of: single(
    {
      takes: 'an envelope, by its id, the beginning of that, or #seq',
      meaning: 'only the turns that it belongs to',
      schema: { type: 'string' },
    },
    (text) => (text !== '' && text.length <= maxTextChars ? text : undefined),
  ),
  turn: whole(1, 'only the turn with this number; it needs `thread_id`'),
  calls_before: whole(1, 'of each turn, only the calls that were made before this seq'),
  text: single(
    {
      takes: `up to ${maxTextChars} characters`,
      meaning: 'only envelopes with all of these words, in any case',
      schema: { type: 'string', maxLength: maxTextChars },
    },
    (text) => (text.length <= maxTextChars ? text : undefined),
  ),
  tool: single(
    {
      takes: 'a tool, as participant/tool or by its name',
      meaning: 'only calls of this tool, their results, proposals and refusals',
      schema: { type: 'string' },
    },
    (text) => (text.length <= maxTextChars ? text : undefined),
  ),
  outcome: oneOf(
    ['success', 'error', 'rejected'],
    'only results that are a success or an error; or rejections, and refusals of the gateway',
  ),
  sizes: oneOf(
    ['true', 'false'],
    'whether each tool decision has the size of its result, and each turn the id of its answer; default false',
  ),
  phase: oneOf(phases, 'only steps of this phase'),
  format: oneOf(['jsonl', 'markdown'], 'how it is written; default jsonl'),
}

/** Parameters of `GET /why/{ref}`. */
export const whyParameters = {
  limit: whole(1, `maximum number of steps, by rank; default ${maxWhySteps}`, maxWhySteps),
}

export type QueryParameters = Readonly<Record<string, Parameter<unknown>>>
/** The parsed values of a query. */
export type AskedParameters<Known extends QueryParameters> = {
  readonly [Name in keyof Known]: ReturnType<Known[Name]['read']>
}
type ParameterName = keyof typeof parameters
export type ParsedQuery<Name extends ParameterName> = AskedParameters<Pick<typeof parameters, Name>>

export const pick = <Name extends ParameterName>(...names: readonly Name[]): Pick<typeof parameters, Name> =>
  Object.fromEntries(names.map((name) => [name, parameters[name]])) as Pick<typeof parameters, Name>

/** Parses a query. Refuses unknown and invalid parameters, so that no filter is silently ignored. */
export function readParameters<Known extends QueryParameters>(
  query: URLSearchParams,
  known: Known,
): AskedParameters<Known> | Refusal {
  const values: Record<string, unknown> = {}
  for (const name of new Set(query.keys())) {
    const parameter = Object.hasOwn(known, name) ? known[name] : undefined
    if (parameter === undefined)
      return refuse('invalid_request', texts.unknownParameter, {
        name: show(name),
        known: Object.keys(known).join(', '),
      })
    const given = query.getAll(name)
    const value = parameter.read(given)
    if (value === undefined) {
      const values = { name, form: parameter.takes, value: show(given.join('&')) }
      return refuse('invalid_request', texts.invalidParameter, values)
    }
    values[name] = value
  }
  return values as AskedParameters<Known>
}

const show = (text: string): string => (text.length > 100 ? `${text.slice(0, 100)}…` : text)
