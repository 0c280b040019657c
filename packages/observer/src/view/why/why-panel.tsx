import { brief, type Chain, describe, sentence } from '@meup/folds'
import type { Envelope } from '@meup/protocol'
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { clockText, getText, noRedaction, stripMarkdown } from '../../model/index.js'
import { CloseButton, Name } from '../shared/parts.js'
import { useSpace } from '../shared/use-space.js'

/** Why there is an envelope: what led to it, across agents, step by step. */
export function WhyPanel({ id, close }: { id: string; close: () => void }): VNode {
  const { session } = useSpace()
  const chain = session.model.explain(id)
  return (
    <aside class="inspector why" aria-label="Why">
      <header>
        <h2>Why?</h2>
        <CloseButton close={close} />
      </header>
      {chain.steps.length === 0 ? (
        <p class="dim">This envelope is not loaded here.</p>
      ) : (
        <WhyChain chain={chain} />
      )}
    </aside>
  )
}

/** Steps at the beginning and at the end that show before all are asked for. */
const [firstSteps, lastSteps] = [2, 6]

/** A chain as a list that can be walked, the last step the envelope itself. */
export function WhyChain({ chain: { steps: chain, isCut: isLost } }: { chain: Chain }): VNode {
  const [isOpen, setOpen] = useState(false)
  const left = chain.length - firstSteps - lastSteps
  const isCut = left > 1 && !isOpen
  const [head, tail] = isCut ? [chain.slice(0, firstSteps), chain.slice(-lastSteps)] : [chain, []]
  return (
    <ol class="why-chain">
      {isLost && <li class="dim">What was before it is not loaded here, or too far back.</li>}
      {head.map((step) => (
        <Step key={step.id} step={step} isLast={step === chain.at(-1)} />
      ))}
      {isCut && (
        <li>
          <button type="button" class="link" onClick={() => setOpen(true)}>
            {left} more steps
          </button>
        </li>
      )}
      {tail.map((step) => (
        <Step key={step.id} step={step} isLast={step === chain.at(-1)} />
      ))}
    </ol>
  )
}

function Step({ step, isLast }: { step: Envelope; isLast: boolean }): VNode {
  const { inspect } = useSpace()
  const { id, seq, from, ts } = step
  return (
    <li aria-current={isLast ? 'step' : undefined}>
      <Name id={from} /> <span class="said">{stepText(step)}</span>{' '}
      <button type="button" class="link" onClick={() => inspect(id)}>
        #{seq} <span class="dim">{clockText(ts)}</span>
      </button>
    </li>
  )
}

const maxStepChars = 160

/** `asks files to read report.txt`, without its sender. */
function stepText(step: Envelope): string {
  const said = sentence(describe(step, noRedaction))
  const text = said.startsWith(`${step.from} `) ? said.slice(step.from.length + 1) : said
  return brief(stripMarkdown(text || getText(step)), maxStepChars)
}
