import { type Filled, type Form, printable, readForm } from '@meup/folds'
import { type Envelope, Kind } from '@meup/protocol'
import type { VNode } from 'preact'
import { useReducer, useState } from 'preact/hooks'
import { clockText } from '../../model/index.js'
import { FormFields, readContent } from '../shared/form-fields.js'
import { Name, UntrustedText } from '../shared/parts.js'
import { useSpace } from '../shared/use-space.js'

/** Input of unfinished forms, kept here because rows outside the visible part are removed from the document. */
const drafts = new WeakMap<Envelope, Map<string, Filled>>()

/** A form for an elicitation to this reader [MEUP-3.26], until it is answered or withdrawn. */
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

interface FieldsProps {
  readonly form: Form
  readonly filled: Map<string, Filled>
  readonly problems: ReadonlyMap<string, string>
  readonly redraw: () => void
}

const Fields = ({ form, filled, problems, redraw }: FieldsProps): VNode => (
  <>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
    <section class="asked" tabIndex={0} aria-label="Question of the tool">
      <UntrustedText text={printable(form.message)} />
    </section>
    <FormFields fields={form.fields} {...{ filled, problems, redraw }} />
  </>
)
