import { type Filled, type Form, type FormField, printable, readFilled, readForm } from '@meup/folds'
import { type Envelope, Kind } from '@meup/protocol'
import type { VNode } from 'preact'
import { useReducer, useState } from 'preact/hooks'
import { clockText } from '../../model/index.js'
import { Checkbox, Name, Said } from '../shared/parts.js'
import { useSpace } from '../shared/use-space.js'

/** What forms were filled in with so far: kept here, since rows that are out of view are not in the document. */
const drafts = new WeakMap<Envelope, Map<string, Filled>>()

/** What a tool asks about a call of this reader [MEUP-3.26]: a form, until it is answered or taken back. */
export function ElicitationCard({ envelope }: { envelope: Envelope }): VNode {
  const { session, isLive, act } = useSpace()
  const [isBusy, setBusy] = useState(false)
  const [problems, setProblems] = useState<ReadonlyMap<string, string>>(new Map())
  const [, redraw] = useReducer<number, void>((count) => count + 1, 0)
  const { from, ts } = envelope
  const form = readForm(getParams(envelope))
  const filled = drafts.get(envelope) ?? new Map<string, Filled>()
  drafts.set(envelope, filled)
  const send = (result: object): void => {
    setBusy(true)
    act('It was not answered', () =>
      Promise.resolve(session.client?.send(toResponse(envelope, result))).finally(() => setBusy(false)),
    )
  }
  const accept = (): void => {
    const { content, wrong } = readContent(form?.fields ?? [], filled)
    setProblems(wrong)
    if (wrong.size === 0) send({ action: 'accept', content })
  }
  return (
    <form
      class="card question"
      aria-label={`${from} asks`}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        accept()
      }}
    >
      <header>
        <span class="mark warn" aria-hidden="true">
          ?
        </span>
        <Name id={from} /> <span>asks you</span>
        <span class="dim expiry">since {clockText(ts)}</span>
      </header>
      {form === undefined ? (
        <p>It asks for something that no form here has.</p>
      ) : (
        <Fields form={form} filled={filled} problems={problems} redraw={redraw} />
      )}
      {session.welcome?.mcp.visibility === 'everyone' && (
        <p class="dim">Everyone in the space can read what you answer.</p>
      )}
      <div class="decision">
        {form !== undefined && (
          <button type="submit" class="primary" disabled={!isLive || isBusy}>
            Answer
          </button>
        )}
        <button type="button" disabled={!isLive || isBusy} onClick={() => send({ action: 'decline' })}>
          Decline
        </button>
      </div>
    </form>
  )
}

const getParams = ({ payload }: Envelope): Readonly<Record<string, unknown>> => Object(payload.params)

const toResponse = ({ id, from, context, payload }: Envelope, result: object) => ({
  kind: Kind.mcpResponse,
  to: [from],
  correlationId: id,
  ...(context !== undefined && { context }),
  payload: { jsonrpc: '2.0', id: payload.id ?? id, result },
})

function readContent(fields: readonly FormField[], filled: ReadonlyMap<string, Filled>) {
  const content: Record<string, unknown> = {}
  const wrong = new Map<string, string>()
  for (const field of fields) {
    const read = readFilled(field, filled.get(field.name) ?? field.initial)
    if ('problem' in read) wrong.set(field.name, read.problem)
    else if (read.value !== undefined) content[field.name] = read.value
  }
  return { content, wrong }
}

interface FieldsProps {
  readonly form: Form
  readonly filled: Map<string, Filled>
  readonly problems: ReadonlyMap<string, string>
  readonly redraw: () => void
}

const Fields = ({ form, filled, problems, redraw }: FieldsProps): VNode => (
  <>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
    <section class="asked" tabIndex={0} aria-label="What it asks">
      <Said text={printable(form.message)} />
    </section>
    {form.fields.map((field) => {
      const { name, label, description } = field
      const problem = problems.get(name)
      const set = (value: Filled): void => {
        filled.set(name, value)
        redraw()
      }
      return (
        <div key={name} class="field">
          <Field field={field} filled={filled.get(name) ?? field.initial} set={set} />
          {description !== '' && <span class="dim said">{printable(description)}</span>}
          {problem !== undefined && (
            <span class="problem" role="alert">
              {printable(label)} {problem}
            </span>
          )}
        </div>
      )
    })}
  </>
)

interface FieldProps {
  readonly field: FormField
  readonly filled: Filled
  readonly set: (filled: Filled) => void
}

const inputTypes = { email: 'email', uri: 'url', date: 'date', 'date-time': 'text' } as const

function Field({ field, filled, set }: FieldProps): VNode {
  const { type, label, isRequired, format, options } = field
  const title = `${printable(label)}${isRequired || type === 'boolean' ? '' : ' (may be empty)'}`
  if (type === 'boolean') {
    return (
      <Checkbox checked={filled === true} set={set}>
        {title}
      </Checkbox>
    )
  }
  if (type === 'choices') {
    const chosen = Array.isArray(filled) ? filled : []
    return (
      <fieldset>
        <legend>{title}</legend>
        {options.map(({ value, label }) => (
          <Checkbox
            key={value}
            checked={chosen.includes(value)}
            set={(isChosen) => set(isChosen ? [...chosen, value] : chosen.filter((each) => each !== value))}
          >
            {printable(label)}
          </Checkbox>
        ))}
      </fieldset>
    )
  }
  const text = String(filled)
  if (type === 'choice') {
    return (
      <label>
        {title}{' '}
        <select value={text} onChange={(event) => set(event.currentTarget.value)}>
          <option value="">–</option>
          {options.map(({ value, label }) => (
            <option key={value} value={value}>
              {printable(label)}
            </option>
          ))}
        </select>
      </label>
    )
  }
  return (
    <label>
      {title}{' '}
      <input
        type={format === undefined ? 'text' : inputTypes[format]}
        inputMode={type === 'text' ? undefined : 'decimal'}
        value={text}
        spellcheck={false}
        onInput={(event) => set(event.currentTarget.value)}
      />
    </label>
  )
}
