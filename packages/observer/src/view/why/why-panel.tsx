import { brief, describe, sentence, type Why, type WhyStep, whySignalTexts } from '@meup/folds'
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { explainEnvelope, noRedaction, stripMarkdown, whenText } from '../../model/index.js'
import { Chip, Name } from '../shared/parts.js'
import { StepsHeader } from '../shared/steps.js'
import { useSpace } from '../shared/use-space.js'

/** The side panel that explains an envelope: its causes, across agents, step by step. */
export function WhyPanel({ id, close }: { id: string; close: () => void }): VNode {
  const { session, inspect } = useSpace()
  const why = explainEnvelope(session.model, id)
  const steps = why?.steps ?? []
  const [chosen, choose] = useState<string | undefined>()
  const goTo = (step: string): void => {
    choose(step)
    inspect(step)
  }
  const at = steps.findIndex((step) => step.id === chosen)
  const go = (index: number): void => goTo(steps[index]?.id ?? id)
  return (
    <aside class="inspector why" aria-label="Why">
      <StepsHeader title="Why?" what="step" {...{ at, go, close }} count={steps.length} />
      {why === undefined ? (
        <p class="dim">This envelope is not loaded here.</p>
      ) : (
        <WhySteps why={why} goTo={goTo} />
      )}
    </aside>
  )
}

/**
 * How many of the first and of the last steps a folded list shows; of the steps in between, those up to this rank (1 = first).
 */
const [firstSteps, lastSteps, firstRanks] = [2, 6, 3]

interface WhyStepsProps {
  readonly why: Why
  /** Called to go to a step; by default, brings it into view. */
  readonly goTo?: (id: string) => void
}

/** The steps as a list, navigable by keyboard; the last one is the envelope itself. */
export function WhySteps({ why: { steps, cut, of }, goTo }: WhyStepsProps): VNode {
  const { inspect } = useSpace()
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
        <Step
          key={step.id}
          step={step}
          isLast={step.id === of.id}
          isRanked={steps.length > firstRanks}
          goTo={goTo ?? inspect}
        />
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
  readonly goTo: (id: string) => void
}

function Step({ step, isLast, isRanked, goTo }: StepProps): VNode {
  const { id, seq, from, ts, rank, signals = [] } = step
  return (
    <li aria-current={isLast ? 'step' : undefined}>
      <Name id={from} /> <StepText step={step} />{' '}
      {isRanked && rank === 1 && !isLast && (
        <span title={signals.map((signal) => whySignalTexts[signal]).join('; ')}>
          <Chip kind="warn">look here first</Chip>
        </span>
      )}{' '}
      <button type="button" class="link" onClick={() => goTo(id)}>
        #{seq} <span class="dim">{whenText(ts)}</span>
      </button>
    </li>
  )
}

const maxStepChars = 160

/** Text of a step without the sender, such as `asks files to read report.txt`. */
function StepText({ step: { id, from, text } }: { readonly step: WhyStep }): VNode {
  const { session } = useSpace()
  const envelope = session.model.log.get(id)
  const said = envelope === undefined ? text : sentence(describe(envelope, noRedaction))
  const own = said.startsWith(`${from} `) ? said.slice(from.length + 1) : said
  return <span class="said">{brief(stripMarkdown(own || text), maxStepChars)}</span>
}
