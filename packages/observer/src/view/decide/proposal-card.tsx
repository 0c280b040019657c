import { formatDuration, onOneLine, type ProposalView, printable, reasonText } from '@meup/folds'
import { type Envelope, Kind } from '@meup/protocol'
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import {
  clockText,
  countText,
  describeChange,
  fitsCard,
  indentJson,
  isShownAtOnce,
  type Mark,
  maxArgumentChars,
  nameText,
  type ProposalRow,
  readSettings,
  sizeText,
} from '../../model/index.js'
import { DiffView, SettingsView } from '../shared/content.js'
import { useNow } from '../shared/hooks.js'
import { Chip, Name, Said } from '../shared/parts.js'
import { useSpace } from '../shared/use-space.js'
import { WhyChain } from '../why/why-panel.js'
import { Decision } from './decision.js'

/** A proposal: a card while it is pending, then a line with the decision. */
export const ProposalCard = ({ row: { proposal, envelope } }: { row: ProposalRow }): VNode =>
  proposal.state === 'open' ? (
    <OpenCard proposal={proposal} envelope={envelope} />
  ) : (
    <Decided proposal={proposal} />
  )

function Decided({ proposal }: { proposal: ProposalView }): VNode {
  const { tool, state, source, fulfilments, rejections, withdrawal } = proposal
  const [done, no] = [fulfilments.at(-1), rejections.at(-1)]
  const said = state === 'rejected' ? no : state === 'withdrawn' ? withdrawal : null
  return (
    <div class="line decided">
      <span class="mark" aria-hidden="true">
        {state === 'fulfilled' ? '✓' : '✕'}
      </span>
      <Name id={source.from} /> proposed <code class="tool">{nameText(tool)}</code>
      <Chip kind={state === 'fulfilled' ? 'good' : 'dim'}>
        {state === 'fulfilled' ? `approved by ${done?.by}` : said ? `${state} by ${said.by}` : state}
      </Chip>
      {said && <Said kind="rationale" text={printable(said.message ?? said.reason)} />}
    </div>
  )
}

interface OpenCardProps {
  readonly proposal: ProposalView
  readonly envelope: Envelope
}

/** What would change, who asks and why, since when and until when, and what led to it. */
export function OpenCard({ proposal, envelope }: OpenCardProps): VNode {
  const { session } = useSpace()
  const { model } = session
  const [isWhole, setWhole] = useState(false)
  const { id, source, tool, expiresAt, usesLeft } = proposal
  const now = useNow(true)
  const gatewayNow = model.gatewayTime(now)
  const left = expiresAt === null ? undefined : Date.parse(expiresAt) - gatewayNow
  const isOver = left !== undefined && left <= 0
  const { params = {} } = envelope.payload
  const exact = session.client?.proposals.get(id)?.paramsJson ?? JSON.stringify(params)
  const change = describeChange(envelope.payload)
  const settings = change === undefined ? readSettings(envelope.payload) : undefined
  const { marks, chain } = model.judge(proposal)
  return (
    <fieldset class="card" data-marks={marks.length} aria-label={`${source.from} proposes ${nameText(tool)}`}>
      <header>
        <span class="mark warn">⚠</span>
        <Name id={source.from} />
        {change === undefined ? (
          <span>
            asks for <code class="tool">{nameText(tool)}</code>
          </span>
        ) : (
          <span>
            wants to <strong class="change">{change.sentence}</strong> with{' '}
            <code class="tool">{nameText(tool)}</code>
          </span>
        )}
        {source.to !== undefined && <span class="dim">of {source.to.join(', ')}</span>}
        {usesLeft > 1 && <Chip>{usesLeft} times</Chip>}
        <span class="dim expiry">
          since {clockText(envelope.ts)}
          {left !== undefined && (isOver ? ' · expired' : ` · expires in ${formatDuration(left)}`)}
        </span>
      </header>
      <Said kind="reason" text={printable(reasonText(proposal.rationale))} />
      <Marks marks={marks} />
      {change !== undefined && change.lines.length > 0 && (
        <DiffView lines={change.lines} isWhole={isWhole || fitsCard(change)} />
      )}
      {change !== undefined && !fitsCard(change) && !isWhole && (
        <button type="button" class="link" onClick={() => setWhole(true)}>
          Show all of it: {countText(change.lines.length, 'line')}
        </button>
      )}
      {settings !== undefined && <SettingsView list={settings} />}
      {change === undefined && settings === undefined ? (
        <Arguments json={exact} isWhole={isWhole} showAll={() => setWhole(true)} />
      ) : (
        <details open={settings === undefined && change?.isAll !== true}>
          <summary>exactly what is sent</summary>
          <Arguments json={exact} isWhole={isWhole} showAll={() => setWhole(true)} />
          <p class="dim">
            needs <code>{neededText(envelope, tool)}</code>
          </p>
        </details>
      )}
      {chain.steps.length > 1 && (
        <details>
          <summary>what led to it: {countText(chain.steps.length - 1, 'step')}</summary>
          <WhyChain chain={chain} />
        </details>
      )}
      <SoFar proposal={proposal} />
      {!isOver && (
        <Decision
          proposal={proposal}
          envelope={envelope}
          isSeen={isWhole || isShownAtOnce(envelope.payload, exact)}
        />
      )}
    </fieldset>
  )
}

function neededText({ to, payload }: Envelope, tool: string): string {
  const target = to?.join(', ')
  const name = tool === payload.method ? '' : ` ${tool}`
  return onOneLine(
    `${Kind.mcpRequest}${target === undefined ? '' : ` to ${target}`} · ${payload.method}${name}`,
  )
}

/** What was decided about it, while it goes on. */
function SoFar({
  proposal: { fulfilments, rejections, usesLeft },
}: {
  proposal: ProposalView
}): VNode | null {
  if (fulfilments.length + rejections.length === 0) return null
  const by = (list: readonly { readonly by: string }[]): string => list.map((each) => each.by).join(', ')
  return (
    <p class="dim so-far">
      {fulfilments.length > 0 && (
        <span>
          ✓ carried out by {by(fulfilments)}, {usesLeft} left
        </span>
      )}
      {rejections.length > 0 && <span>✕ rejected by {by(rejections)}</span>}
    </p>
  )
}

interface ArgumentsProps {
  readonly json: string
  /** Whether all of it is to show, however long it is. */
  readonly isWhole: boolean
  readonly showAll: () => void
}

/** JSON as it was sent, on many lines. What is long shows whole when that is asked for. */
function Arguments({ json, isWhole, showAll }: ArgumentsProps): VNode {
  if (isWhole || json.length <= maxArgumentChars) {
    return (
      <pre class="exact" dir="ltr">
        {indentJson(json)}
      </pre>
    )
  }
  return (
    <>
      <pre class="exact" dir="ltr">
        {indentJson(json.slice(0, maxArgumentChars))}…
      </pre>
      <button type="button" class="link" onClick={showAll}>
        Show all of it: {sizeText(json.length)}
      </button>
    </>
  )
}

const signs: Readonly<Record<Mark['kind'], string>> = { effect: '⚠', first: '①', outside: '↯' }

/** Why a proposal deserves a second look; each says why when it is pointed at or opened. */
function Marks({ marks }: { marks: readonly Mark[] }): VNode | null {
  const { inspect } = useSpace()
  if (marks.length === 0) return null
  return (
    <ul class="marks">
      {marks.map(({ kind, label, why, id }) => (
        <li key={kind} class={`mark-${kind}`} data-mark={kind}>
          <strong>
            <span aria-hidden="true">{signs[kind]} </span>
            {label}
          </strong>{' '}
          <span class="dim">{why}</span>
          {id !== undefined && (
            <button type="button" class="link" onClick={() => inspect(id)}>
              look at it
            </button>
          )}
        </li>
      ))}
    </ul>
  )
}
