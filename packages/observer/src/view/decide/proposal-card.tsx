import {
  formatDuration,
  onOneLine,
  type ProposalView,
  type ProposedCall,
  printable,
  proposerEndedText,
  type Risk,
  reasonText,
} from '@meup/folds'
import { type Envelope, Kind } from '@meup/protocol'
import type { Ref, VNode } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type { PageSession } from '../../connect/session.js'
import {
  type CardContent,
  type CardPart,
  type Caution,
  type Change,
  clockText,
  countText,
  type DiffLine,
  describeCard,
  judge,
  nameText,
  type ProposalRow,
  sizeText,
} from '../../model/index.js'
import { SettingsView } from '../shared/content.js'
import { DiffView } from '../shared/diff-view.js'
import { useNow, useSeenToEnd } from '../shared/hooks.js'
import { Chip, End, Name, Sentence, UntrustedText } from '../shared/parts.js'
import { useSpace } from '../shared/use-space.js'
import { What } from '../shared/what.js'
import { WhySteps } from '../why/why-panel.js'
import { DecisionPanel } from './decision.js'

type DecidedRow = Pick<ProposalRow, 'proposal' | 'envelope' | 'summary'>

/** A proposal: a card while it is open, then one line with the decision. */
export const ProposalCard = ({ row }: { row: DecidedRow }): VNode =>
  row.proposal.state === 'open' ? (
    <OpenCard proposal={row.proposal} envelope={row.envelope} />
  ) : (
    <Decided row={row} />
  )

function Decided({ row: { proposal, summary } }: { row: DecidedRow }): VNode {
  const { tool, state, fulfilments, rejections, withdrawal } = proposal
  const [done, no] = [fulfilments.at(-1), rejections.at(-1)]
  // Proposers withdraw rejected proposals: the rejection is more informative than the withdrawal.
  const ending = state === 'withdrawn' && no !== undefined ? 'rejected' : state
  const said = ending === 'rejected' ? no : ending === 'withdrawn' ? withdrawal : null
  return (
    <div class="line decided">
      <span class="mark" aria-hidden="true">
        {state === 'fulfilled' ? '✓' : '✕'}
      </span>
      <What summary={summary} tool={nameText(tool)} />
      <span class="approved">
        — {state === 'fulfilled' ? `approved by ${done?.by}` : said ? `${ending} by ${said.by}` : ending}
      </span>
      {said && <UntrustedText kind="rationale" text={printable(said.message ?? said.reason)} />}
    </div>
  )
}

interface OpenCardProps {
  readonly proposal: ProposalView
  readonly envelope: Envelope
}

/** Card of an open proposal: effect, proposer, reason, times, and the steps that led to it. */
function OpenCard({ proposal, envelope }: OpenCardProps): VNode {
  const { session } = useSpace()
  const { model } = session
  const [isWhole, setWhole] = useState(false)
  const { id, source, tool, expiresAt, usesLeft } = proposal
  const isLeft = proposal.programEnded || session.client?.proposals.get(id)?.programEnded === true
  const now = useNow(true)
  const gatewayNow = model.gatewayTime(now)
  const left = expiresAt === null ? undefined : Date.parse(expiresAt) - gatewayNow
  const isOver = left !== undefined && left <= 0
  const call = readCall(session, envelope)
  const { usesLeft: uses } = call
  const card = useMemo(() => describeCard(envelope.payload, call, isWhole), [envelope, uses, isWhole])
  const { change, settings, exact, needed, isAll } = card
  const [, redraw] = useState(0)
  const see = (part: CardPart): void => {
    if (!session.seen.add(id, part, card.chars)) return
    redraw((count) => count + 1)
    // Redraws other components that depend on the seen parts, such as the button that approves several proposals.
    session.onChange()
  }
  const content = (part: CardPart, value: unknown): unknown =>
    needed.includes(part) && card.isApprovable ? value && `${id} ${card.chars}` : undefined
  const changeBox = useSeenToEnd<HTMLPreElement>(content('change', change), () => see('change'))
  const settingsBox = useSeenToEnd<HTMLDivElement>(content('settings', settings), () => see('settings'))
  const exactBox = useSeenToEnd<HTMLPreElement>(content('exact', exact), () => see('exact'))
  const { risk, marks, origin } = judge(model, proposal)
  return (
    <fieldset
      class="card"
      data-marks={marks.length}
      data-risk={risk.level}
      aria-label={`${source.from} proposes ${nameText(tool)}`}
    >
      <header>
        <span class="mark warn">⚠</span>
        <Name id={source.from} />
        {change === undefined ? (
          <span>
            asks for <code class="tool">{nameText(tool)}</code>
          </span>
        ) : (
          <span>
            wants to <ChangeName change={change} /> {countSigns(change.lines)}with{' '}
            <code class="tool">{nameText(tool)}</code>
          </span>
        )}
        <span class="dim">of {source.to?.join(', ') ?? 'everyone'}</span>
        {envelope.context !== undefined && (
          <span class="dim">
            in <code>{nameText(envelope.context)}</code>
          </span>
        )}
        {usesLeft > 1 && <Chip>{usesLeft} times</Chip>}
        {isLeft && <Chip kind="warn">{proposerEndedText(nameText(source.from))}</Chip>}
        <span class="dim expiry">
          since {clockText(envelope.ts)}
          {left !== undefined && (isOver ? ' · expired' : ` · expires in ${formatDuration(left)}`)}
        </span>
      </header>
      {settings !== undefined && <SettingsView list={settings} box={settingsBox} />}
      <UntrustedText kind="reason" text={printable(reasonText(proposal.rationale))} />
      <Marks marks={marks} risk={risk} />
      {change !== undefined && change.lines.length > 0 && (
        <DiffView lines={change.lines} path={change.name} isWhole={card.isApprovable} box={changeBox} />
      )}
      {change === undefined && settings === undefined ? (
        <Exact text={exact} box={exactBox} />
      ) : (
        <details open={!isAll}>
          <summary>exactly what is sent</summary>
          <Exact text={exact} box={exactBox} />
          <p class="dim">
            needs <code>{neededText(envelope, tool)}</code>
          </p>
        </details>
      )}
      {card.isCut && !isWhole && (
        <button type="button" class="link" onClick={() => setWhole(true)}>
          Show all of it: {sizeText(card.chars)}
          {change !== undefined && `, ${countText(change.lines.length, 'line')}`}
        </button>
      )}
      {origin !== undefined && origin.steps.length > 1 && (
        <details>
          <summary>what led to it: {countText(origin.steps.length - 1, 'step')}</summary>
          <WhySteps why={origin} />
        </details>
      )}
      <SoFar proposal={proposal} />
      {!isOver && (
        <DecisionPanel
          proposal={proposal}
          envelope={envelope}
          unseen={unseenText(card, session.seen.hasAll(id, needed, card.chars))}
          risk={risk}
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

/** Decisions made so far about a proposal that is still open. */
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

/** The exact JSON of the request, indented. */
const Exact = ({ text, box }: { text: string; box: Ref<HTMLPreElement> }): VNode => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and keys have to reach it.
  <pre class="exact" dir="ltr" tabIndex={0} ref={box}>
    {text}
    <End />
  </pre>
)

/** The call that an approval would make: exactly as received, if this connection has received the proposal. */
export function readCall(session: PageSession, { id, to, context, payload }: Envelope): ProposedCall {
  const open = session.client?.proposals.get(id)
  if (open !== undefined) return open
  const { method, params, uses, expiresAt } = payload as {
    readonly method: string
    readonly params?: unknown
    readonly uses?: number
    readonly expiresAt?: string
  }
  return { to, context, method, params, usesLeft: uses, expiresAt }
}

/** Explains why a proposal cannot be approved yet. */
function unseenText({ isApprovable, isCut }: CardContent, isSeen: boolean): string | undefined {
  if (isSeen) return undefined
  if (isCut) return 'Show all of it before you approve.'
  return isApprovable
    ? 'Scroll to the end of what is sent to approve it.'
    : 'It has numbers that a page cannot show exactly. Approve it with meup proposals approve.'
}

/** A change such as `edit src/pool.ts, 2 lines`, with the folder dimmed. */
function ChangeName({ change: { sentence, name } }: { change: Change }): VNode {
  const start = sentence.indexOf(name)
  const end = start + name.lastIndexOf('/') + 1
  return (
    <strong class="change">
      {sentence.slice(0, start)}
      <span class="dim">{sentence.slice(start, end)}</span>
      {sentence.slice(end)}
    </strong>
  )
}

/** Numbers of added and removed lines, such as `+3 −1`. */
function countSigns(lines: readonly DiffLine[]): string {
  const count = (sign: DiffLine['sign']): number => lines.filter((line) => line.sign === sign).length
  return lines.length === 0 ? '' : `+${count('+')} −${count('-')} `
}

const signs: Readonly<Record<Caution['kind'], string>> = { effect: '⚠', first: '①', outside: '↯' }

/** Cautions about a proposal as chips; a click on one explains it. The explanation of a destructive call is open at first. */
export function Marks({ marks, risk }: { marks: readonly Caution[]; risk: Risk | undefined }): VNode | null {
  const { inspect } = useSpace()
  const [open, setOpen] = useState<Caution['kind'] | undefined>(
    risk?.level === 'destructive' ? 'effect' : undefined,
  )
  if (marks.length === 0) return null
  const shown = marks.find(({ kind }) => kind === open)
  const { id } = shown ?? {}
  return (
    <div class="marks">
      {marks.map(({ kind, label, why }) => (
        <button
          key={kind}
          type="button"
          class={`chip mark-${kind} ${risk?.level}`}
          data-mark={kind}
          title={why}
          aria-expanded={kind === open}
          onClick={() => setOpen(kind === open ? undefined : kind)}
        >
          <span aria-hidden="true">{signs[kind]} </span>
          {label}
        </button>
      ))}
      {shown !== undefined && (
        <p class="dim">
          <Sentence text={shown.why} />
          {id !== undefined && (
            <button type="button" class="link" onClick={() => inspect(id)}>
              look at it
            </button>
          )}
        </p>
      )}
    </div>
  )
}
