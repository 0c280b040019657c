import { brief, describe, sentence, type Why, type WhyStep, whySignalTexts } from '@meup/folds'
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { clockText, noRedaction, stripMarkdown } from '../../model/index.js'
import { Chip, CloseButton, Name } from '../shared/parts.js'
import { useSpace } from '../shared/use-space.js'

/** Why there is an envelope: what led to it, across agents, step by step. */
export function WhyPanel({ id, close }: { id: string; close: () => void }): VNode {
  const { session } = useSpace()
  const why = session.model.explain(id)
  return (
    <aside class="inspector why" aria-label="Why">
      <header>
        <h2>Why?</h2>
        <CloseButton close={close} />
      </header>
      {why === undefined ? <p class="dim">This envelope is not loaded here.</p> : <WhySteps why={why} />}
    </aside>
  )
}

/** Steps at the beginning and at the end, and ranks, that show before all are asked for. */
const [firstSteps, lastSteps, firstRanks] = [2, 6, 3]

/** Steps as a list that can be walked, the last one the envelope itself. */
export function WhySteps({ why: { steps, cut, of } }: { why: Why }): VNode {
  const [isOpen, setOpen] = useState(false)
  const isShown = ({ rank }: WhyStep, index: number): boolean =>
    index < firstSteps || index >= steps.length - lastSteps || rank <= firstRanks
  const shown = steps.filter(isShown)
  const left = steps.length - shown.length
  const isCut = left > 1 && !isOpen
  return (
    <ol class="why-chain">
      {cut && <li class="dim">What was before it is not loaded here, or too far back.</li>}
      {(isCut ? shown : steps).map((step) => (
        <Step key={step.id} step={step} isLast={step.id === of.id} isRanked={steps.length > firstRanks} />
      ))}
      {isCut && (
        <li>
          <button type="button" class="link" onClick={() => setOpen(true)}>
            {left} more steps
          </button>
        </li>
      )}
    </ol>
  )
}

interface StepProps {
  readonly step: WhyStep
  readonly isLast: boolean
  readonly isRanked: boolean
}

function Step({ step, isLast, isRanked }: StepProps): VNode {
  const { inspect } = useSpace()
  const { id, seq, from, ts, rank, signals = [] } = step
  return (
    <li aria-current={isLast ? 'step' : undefined}>
      <Name id={from} /> <StepText step={step} />{' '}
      {isRanked && rank === 1 && !isLast && (
        <span title={signals.map((signal) => whySignalTexts[signal]).join('; ')}>
          <Chip kind="warn">look here first</Chip>
        </span>
      )}{' '}
      <button type="button" class="link" onClick={() => inspect(id)}>
        #{seq} <span class="dim">{clockText(ts)}</span>
      </button>
    </li>
  )
}

const maxStepChars = 160

/** `asks files to read report.txt`, without its sender. */
function StepText({ step: { id, from, text } }: { readonly step: WhyStep }): VNode {
  const { session } = useSpace()
  const envelope = session.model.log.get(id)
  const said = envelope === undefined ? text : sentence(describe(envelope, noRedaction))
  const own = said.startsWith(`${from} `) ? said.slice(from.length + 1) : said
  return <span class="said">{brief(stripMarkdown(own || text), maxStepChars)}</span>
}
