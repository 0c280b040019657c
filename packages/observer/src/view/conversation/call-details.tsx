import { getParameters, indentJson, printable, resultText } from '@meup/folds'
import type { Envelope } from '@meup/protocol'
import { stringifyExact } from '@meup/protocol'
import type { VNode } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { explainError } from '../../connect/errors.js'
import { readOne } from '../../connect/history.js'
import {
  type CallRow,
  type Change,
  describeChange,
  getFullSize,
  type Part,
  readSettings,
  resultParts,
  type Settings,
  sizeText,
  valuePart,
} from '../../model/index.js'
import { EnvelopeChain, ExactJson } from '../audit/inspector.js'
import { ContentPart, isLongPart, SettingsView } from '../shared/content.js'
import { Alert, CopyButton, UntrustedText } from '../shared/parts.js'
import { useSpace } from '../shared/use-space.js'
import { WhyButton } from '../why/why-button.js'
import { useRight } from './use-right.js'

type Tab = 'call' | 'raw'

/** Calls up to this many bytes are loaded completely when opened; larger ones on request. */
const maxOwnBytes = 1_000_000

/** Details of a call: reason, arguments and result; in a second tab, the logged envelopes. */
export function CallDetails({ row }: { row: CallRow }): VNode {
  const { session } = useSpace()
  const [tab, setTab] = useState<Tab>('call')
  const [isWhole, setWhole] = useState(false)
  const [problem, setProblem] = useState<string | undefined>()
  const [full, setFull] = useState<{ readonly request?: Envelope; readonly response?: Envelope }>({})
  const request = full.request ?? row.envelope
  const response = full.response ?? row.response
  const args = getParameters(request.payload)
  const result = useMemo(
    () => (response === null || response === undefined ? [] : resultParts(response.payload, args)),
    [request, response],
  )
  const change = describeChange(request.payload)
  const size = [request, response].reduce((sum, each) => sum + ((each && getFullSize(each)) ?? 0), 0)
  const parts = [valuePart(args), ...result]
  if (change !== undefined) parts.push({ type: 'diff', lines: change.lines })
  const load = async (): Promise<void> => {
    const read = async (envelope: Envelope | null | undefined): Promise<Envelope | undefined> =>
      envelope && getFullSize(envelope) !== undefined ? readOne(session.http, envelope.seq ?? 0) : undefined
    const [asked, answered] = await Promise.all([read(row.envelope), read(row.response)])
    setFull({ ...(asked && { request: asked }), ...(answered && { response: answered }) })
  }
  const tryToLoad = (): void => {
    setProblem(undefined)
    load().catch((error: unknown) => setProblem(explainError(error)))
  }
  useEffect(() => {
    if (size > 0 && size <= maxOwnBytes) tryToLoad()
  }, [row.envelope, row.response])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: only keeps clicks from the row around it.
    // biome-ignore lint/a11y/noStaticElementInteractions: as above.
    <div class="call-details" onClick={(event) => event.stopPropagation()}>
      <Tabs id={row.key} tab={tab} setTab={setTab} />
      {problem !== undefined && (
        <Alert>
          Not all of it could be loaded: {problem}{' '}
          <button type="button" onClick={tryToLoad}>
            Try again
          </button>
        </Alert>
      )}
      {tab === 'raw' ? (
        <Raw request={request} response={response ?? undefined} />
      ) : (
        <>
          {row.rationale !== null && (
            <p>
              <span class="label">Why</span> <UntrustedText kind="rationale" text={row.rationale} />{' '}
              <WhyButton id={row.envelope.id} />
            </p>
          )}
          <Allowed request={request} />
          <Arguments change={change} settings={readSettings(request.payload)} args={args} isWhole={isWhole} />
          <Result row={row} parts={result} isWhole={isWhole} />
          {!isWhole && (size > maxOwnBytes || parts.some(isLongPart)) && (
            <button
              type="button"
              class="link"
              onClick={() => {
                setWhole(true)
                if (size > 0) tryToLoad()
              }}
            >
              Show all{size > 0 ? ` (${sizeText(size)})` : ''}
            </button>
          )}
        </>
      )}
    </div>
  )
}

function Allowed({ request }: { request: Envelope }): VNode | null {
  const right = useRight(request)
  if (right === undefined) return null
  return (
    <p>
      <span class="label">Allowed</span> {right}
    </p>
  )
}

const tabs: Readonly<Record<Tab, string>> = { call: 'Call', raw: 'Envelopes' }

function Tabs({ id, tab, setTab }: { id: string; tab: Tab; setTab: (tab: Tab) => void }): VNode {
  const names = Object.keys(tabs) as Tab[]
  return (
    <div class="small-tabs" role="tablist" aria-label="How the call is shown">
      {names.map((name) => (
        <button
          key={name}
          type="button"
          role="tab"
          id={`${id}-${name}`}
          aria-selected={name === tab}
          onClick={() => setTab(name)}
        >
          {tabs[name]}
        </button>
      ))}
    </div>
  )
}

interface ArgumentsProps {
  readonly change: Change | undefined
  readonly settings: Settings | undefined
  readonly args: unknown
  readonly isWhole: boolean
}

/** The change that a call makes, and its arguments if the change does not contain them all. */
function Arguments({ change, settings, args, isWhole }: ArgumentsProps): VNode {
  const isEmpty = typeof args !== 'object' || args === null || Object.keys(args).length === 0
  return (
    <>
      {change !== undefined && (
        <section aria-label="Change">
          <p>
            <span class="label">Change</span> {change.sentence}
          </p>
          {change.lines.length > 0 && (
            <ContentPart part={{ type: 'diff', lines: change.lines, path: change.name }} isWhole={isWhole} />
          )}
        </section>
      )}
      {!isEmpty && change?.isAll !== true && (
        <section aria-label="Arguments">
          <p>
            <span class="label">Arguments</span>
            <CopyButton text={indentJson(stringifyExact(args) ?? '')} what="the arguments" />
          </p>
          {settings === undefined ? (
            <ContentPart part={valuePart(args)} isWhole={isWhole} />
          ) : (
            <SettingsView list={settings} />
          )}
        </section>
      )}
    </>
  )
}

interface ResultProps {
  readonly row: CallRow
  readonly parts: readonly Part[]
  readonly isWhole: boolean
}

function Result({ row: { result, exitCode, hasFailed }, parts, isWhole }: ResultProps): VNode {
  if (result === null) return <p class="dim">No result yet.</p>
  return (
    <section aria-label="Result">
      <p>
        <span class="label">{hasFailed ? 'Error' : 'Result'}</span>
        <span class="dim">
          {exitCode === undefined ? resultText({ ...result, text: '' }) : `exit ${exitCode}`}
        </span>
        <CopyButton text={copyText(parts)} what="the result" />
      </p>
      {parts.length === 0 && <p class="dim">It is empty.</p>}
      {parts.map((part, index) => (
        <ContentPart key={index} part={part} isWhole={isWhole} />
      ))}
    </section>
  )
}

const copyText = (parts: readonly Part[]): string => parts.map(toText).join('\n')

function toText(part: Part): string {
  switch (part.type) {
    case 'text':
      return part.text
    case 'diff':
      return part.lines.map(({ sign, text }) => (sign === '@' ? text : sign + text)).join('\n')
    case 'json':
      return indentJson(stringifyExact(part.value) ?? '')
    case 'table':
      return [part.columns, ...part.rows].map((row) => row.join('\t')).join('\n')
    case 'media':
      return part.data
    case 'link':
      return part.uri
  }
}

/** The logged envelopes, with their positions in the hash chain. */
const Raw = ({ request, response }: { request: Envelope; response: Envelope | undefined }): VNode => (
  <>
    {[request, ...(response === undefined ? [] : [response])].map((envelope) => (
      <section key={envelope.id} aria-label={`Envelope ${envelope.seq}`}>
        <p>
          <span class="label">#{envelope.seq}</span> <code>{printable(envelope.kind)}</code>
          <CopyButton text={stringifyExact(envelope)} what="the envelope" />
        </p>
        <EnvelopeChain seq={envelope.seq} />
        <ExactJson envelope={envelope} />
      </section>
    ))}
  </>
)
