import { formatDuration, onOneLine, type ProposalView, printable, reasonText } from '@meup/folds'
import { Kind } from '@meup/protocol'
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { indentJson, nameText, type ProposalRow, sizeText } from '../../model/index.js'
import { useNow } from '../shared/hooks.js'
import { Chip, Name, Said } from '../shared/parts.js'
import { useSpace } from '../shared/use-space.js'

/** A proposal: a card while it is pending, then a line with the decision. */
export const ProposalCard = ({ row }: { row: ProposalRow }): VNode =>
  row.proposal.state === 'open' ? <OpenCard row={row} /> : <Decided proposal={row.proposal} />

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

function OpenCard({ row }: { row: ProposalRow }): VNode {
  const { session } = useSpace()
  const { proposal, envelope } = row
  const [isWhole, setWhole] = useState(false)
  const { expiresAt } = proposal
  const now = useNow(expiresAt !== null)
  const left = expiresAt === null ? undefined : Date.parse(expiresAt) - session.model.gatewayTime(now)
  const isOver = left !== undefined && left <= 0
  const { id, source, tool } = proposal
  const { params = {} } = envelope.payload
  const exact = session.client?.proposals.get(id)?.paramsJson ?? JSON.stringify(params)
  return (
    <section class="card" aria-label={`${source.from} proposes ${nameText(tool)}`}>
      <header>
        <span class="mark warn">⚠</span>
        <Name id={source.from} /> asks for <code class="tool">{nameText(tool)}</code>
        {source.to !== undefined && <span class="dim">of {source.to.join(', ')}</span>}
        {proposal.usesLeft > 1 && <Chip>{proposal.usesLeft} times</Chip>}
        {left !== undefined && (
          <span class="dim expiry">{isOver ? 'expired' : `expires in ${formatDuration(left)}`}</span>
        )}
      </header>
      <Said kind="reason" text={printable(reasonText(proposal.rationale))} />
      <Arguments json={exact} isWhole={isWhole} showAll={() => setWhole(true)} />
      <p class="dim">
        needs <code>{neededText(row)}</code>
      </p>
      <SoFar proposal={proposal} />
      {!isOver && <Decision row={row} isSeen={isWhole || !isLong(exact)} />}
    </section>
  )
}

/** The request that carries it out. */
const toRequest = ({ envelope: { to, context, payload } }: ProposalRow) => ({
  kind: Kind.mcpRequest,
  payload,
  ...(to && { to }),
  ...(context !== undefined && { context }),
})

function neededText(row: ProposalRow): string {
  const { envelope, proposal } = row
  const to = envelope.to?.join(', ')
  const tool = proposal.tool === envelope.payload.method ? '' : ` ${proposal.tool}`
  return onOneLine(
    `${Kind.mcpRequest}${to === undefined ? '' : ` to ${to}`} · ${envelope.payload.method}${tool}`,
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

interface DecisionProps {
  readonly row: ProposalRow
  /** Whether the whole request was shown. Only then it can be approved. */
  readonly isSeen: boolean
}

function Decision({ row, isSeen }: DecisionProps): VNode {
  const { session, isLive, can, act } = useSpace()
  const [reason, setReason] = useState<string | undefined>()
  const [isDeciding, setDeciding] = useState(false)
  const { id, source } = row.proposal
  const me = session.welcome?.you.id
  const mayApprove = source.from !== me && can(toRequest(row))
  // Those reject who could approve [MEUP-3.11].
  const mayReject = mayApprove && can({ kind: Kind.mcpReject, to: [source.from], correlationId: id })
  const mayGrant = mayApprove && row.envelope.to !== undefined && can({ kind: Kind.capabilityGrant })
  if (!mayApprove) return <p class="dim">Somebody else decides: your capabilities do not cover it.</p>
  const isClosed = !isLive || isDeciding
  const decide = (work: () => Promise<unknown> | undefined): void => {
    setDeciding(true)
    act('It was not decided', () => Promise.resolve(work()).finally(() => setDeciding(false)))
  }
  const reject = (): void => {
    const message = reason?.trim() ?? ''
    const why = { reason: 'declined', ...(message !== '' && { message }) }
    decide(() => session.client?.proposals.reject(id, why))
  }
  if (reason !== undefined) {
    return (
      <form
        class="decision"
        onSubmit={(event) => {
          event.preventDefault()
          reject()
        }}
      >
        <input
          aria-label="Why not"
          placeholder="Why not? (for everyone to read)"
          maxLength={1000}
          value={reason}
          ref={(input) => input?.focus()}
          onInput={(event) => setReason(event.currentTarget.value)}
        />
        <button type="submit" class="bad" disabled={isClosed}>
          Reject
        </button>
        <button type="button" onClick={() => setReason(undefined)}>
          Back
        </button>
      </form>
    )
  }
  return (
    <div class="decision">
      {mayApprove && (
        <button
          type="button"
          class="primary"
          data-key-press="a"
          disabled={isClosed || !isSeen}
          onClick={() => decide(() => session.client?.proposals.approve(id))}
        >
          Approve <kbd>a</kbd>
        </button>
      )}
      {mayReject && (
        <button type="button" data-key-press="x" disabled={isClosed} onClick={() => setReason('')}>
          Reject… <kbd>x</kbd>
        </button>
      )}
      {mayGrant && (
        <button
          type="button"
          disabled={isClosed || !isSeen}
          title="Approve it, and let the proposer do the same from now on, with whatever arguments"
          onClick={() => decide(() => session.client?.proposals.allowAlways(id))}
        >
          Always allow
        </button>
      )}
      {!isSeen && <span class="dim">Show all of it before you approve.</span>}
    </div>
  )
}

/** Characters that show at once. */
const maxArgumentChars = 16_000

const isLong = (json: string): boolean => json.length > maxArgumentChars

interface ArgumentsProps {
  readonly json: string
  /** Whether all of it is to show, however long it is. */
  readonly isWhole: boolean
  readonly showAll: () => void
}

/** JSON as it was sent, on many lines. What is long shows whole when that is asked for. */
function Arguments({ json, isWhole, showAll }: ArgumentsProps): VNode {
  if (isWhole || !isLong(json)) {
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
