import {
  assessRisk,
  type Filled,
  formatDuration,
  getOutcome,
  getToolName,
  printable,
  readForm,
} from '@meup/folds'
import { type Envelope, Kind } from '@meup/protocol'
import type { VNode } from 'preact'
import { useReducer, useState } from 'preact/hooks'
import { summarizeCall, type ToolInfo, toolEffects, valuePart, whenText } from '../../model/index.js'
import { ContentPart } from '../shared/content.js'
import { FormFields, readContent } from '../shared/form-fields.js'
import { Name, SearchField } from '../shared/parts.js'
import { useSpace } from '../shared/use-space.js'
import { What } from '../shared/what.js'

/** Minimum number of tools for a search field. */
const minForSearch = 8

/** Tools of a participant: arguments, a form to call each, and its latest calls. */
export function ToolList({ id }: { id: string }): VNode | null {
  const { session, isLive, can, act } = useSpace()
  const [sought, setSought] = useState('')
  const { tools } = session.present
  const known = tools.list(id)
  const mayAsk = can({ kind: Kind.mcpRequest, to: [id], payload: { method: 'tools/list' } })
  if (known.length === 0 && (tools.knows(id) || !mayAsk)) return null
  const words = sought.toLowerCase()
  const found = known.filter(({ name, description }) =>
    `${name} ${description}`.toLowerCase().includes(words),
  )
  return (
    <section class="tools" aria-label={`Tools of ${id}`}>
      <h3>Tools</h3>
      {known.length >= minForSearch && <SearchField label="Find a tool" value={sought} set={setSought} />}
      {found.map((tool) => (
        <ToolEntry key={tool.name} owner={id} tool={tool} />
      ))}
      {known.length === 0 && (
        <button
          type="button"
          class="link"
          disabled={!isLive}
          onClick={() => act(`${id} did not tell its tools`, () => session.askForTools(id))}
        >
          Ask {id} for its tools
        </button>
      )}
    </section>
  )
}

interface ToolProps {
  readonly owner: string
  readonly tool: ToolInfo
}

function ToolEntry({ owner, tool }: ToolProps): VNode {
  const [isOpen, setOpen] = useState(false)
  const { name, description, effect } = tool
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <code class="tool">{printable(name)}</code> <span class="dim">{toolEffects[effect]}</span>
      </summary>
      {isOpen && (
        <>
          {description !== '' && <p class="said">{printable(description)}</p>}
          <TryForm owner={owner} tool={tool} />
          <LastCalls owner={owner} tool={name} />
        </>
      )}
    </details>
  )
}

/** Form that calls a tool as this reader; a call that may be destructive needs a second click. */
function TryForm({ owner, tool }: ToolProps): VNode {
  const { session, isLive, can, act } = useSpace()
  const { name, inputSchema, effect } = tool
  const form = readForm({ message: '', requestedSchema: inputSchema ?? { properties: {} } })
  const [filled] = useState(() => new Map<string, Filled>())
  const [json, setJson] = useState('{}')
  const [problems, setProblems] = useState<ReadonlyMap<string, string>>(new Map())
  const [warning, warn] = useState('')
  const [isBusy, setBusy] = useState(false)
  const [, redraw] = useReducer<number, void>((count) => count + 1, 0)
  const draft = { kind: Kind.mcpRequest, to: [owner], payload: { method: 'tools/call', params: { name } } }
  if (!can(draft)) return <Schema schema={inputSchema} />
  const read = (): object | undefined => {
    const { content, wrong } = form === undefined ? readJson(json) : readContent(form.fields, filled)
    setProblems(wrong)
    return wrong.size === 0 ? content : undefined
  }
  const call = (): void => {
    const args = read()
    if (args === undefined) return
    const { level, reason } = assessRisk({ tool: name, parameters: args, effects: [effect] })
    if (level === 'destructive' && warning !== reason) {
      warn(reason)
      return
    }
    warn('')
    setBusy(true)
    act(`${name} could not be called`, () =>
      Promise.resolve(session.client?.call(`${owner}/${name}`, args)).finally(() => setBusy(false)),
    )
  }
  return (
    <form
      class="question try"
      aria-label={`Try ${name}`}
      noValidate
      onInput={() => warn('')}
      onSubmit={(event) => {
        event.preventDefault()
        call()
      }}
    >
      {form === undefined ? (
        <>
          <Schema schema={inputSchema} />
          <label>
            Arguments, as JSON
            <textarea
              rows={4}
              dir="ltr"
              spellcheck={false}
              value={json}
              onInput={(event) => setJson(event.currentTarget.value)}
            />
          </label>
          {problems.has('') && (
            <p class="problem" role="alert">
              {problems.get('')}
            </p>
          )}
        </>
      ) : (
        <FormFields fields={form.fields} {...{ filled, problems, redraw }} />
      )}
      {warning !== '' && (
        <p class="bad" role="status">
          {warning}
        </p>
      )}
      <button type="submit" class={warning === '' ? 'primary' : 'bad'} disabled={!isLive || isBusy}>
        {isBusy ? 'Calling…' : warning === '' ? 'Try' : 'Try it anyway'}
      </button>
    </form>
  )
}

const Schema = ({ schema }: { schema: unknown }): VNode => (
  <ContentPart part={valuePart(schema ?? {})} isWhole={false} />
)

/** Parses arguments typed as JSON. */
function readJson(text: string): { content: object; wrong: ReadonlyMap<string, string> } {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return { content: value, wrong: new Map() }
    return { content: {}, wrong: new Map([['', 'Write an object, such as {"path": "a.ts"}.']]) }
  } catch (error) {
    return { content: {}, wrong: new Map([['', `This is not JSON: ${(error as Error).message}`]]) }
  }
}

/** Maximum number of listed calls of a tool. */
const maxCalls = 5

/** The latest calls of a tool, with caller and outcome. */
function LastCalls({ owner, tool }: { owner: string; tool: string }): VNode | null {
  const { session, inspect } = useSpace()
  const { log } = session.model
  const calls: Envelope[] = []
  for (let at = log.envelopes.length - 1; at >= 0 && calls.length < maxCalls; at--) {
    const each = log.envelopes[at]
    const isCall = each?.kind === Kind.mcpRequest && each.to?.includes(owner) === true
    if (isCall && getToolName(each.payload) === tool) calls.push(each)
  }
  if (calls.length === 0) return null
  return (
    <ul class="last-calls" aria-label="Last calls">
      {calls.map((call) => (
        <li key={call.id}>
          <button type="button" class="link" onClick={() => inspect(call.id)}>
            {whenText(call.ts)}
          </button>{' '}
          <Name id={call.from} /> <What summary={summarizeCall(call.payload)} tool={tool} />{' '}
          <Outcome call={call} />
        </li>
      ))}
    </ul>
  )
}

function Outcome({ call }: { call: Envelope }): VNode {
  const { log } = useSpace().session.model
  const response = log
    .answersTo(call.id)
    .map((id) => log.get(id))
    .find((each) => each?.kind === Kind.mcpResponse)
  if (response === undefined) return <span class="dim">…</span>
  const took = formatDuration(Date.parse(response.ts) - Date.parse(call.ts))
  const isFailure = getOutcome(response.payload) === 'error'
  return <span class={isFailure ? 'bad' : 'dim'}>{isFailure ? `✕ ${took}` : took}</span>
}
