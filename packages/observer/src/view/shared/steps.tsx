import type { VNode } from 'preact'
import { CloseButton } from './parts.js'
import { useSpace } from './use-space.js'

interface StepsHeaderProps {
  readonly title: string
  /** Noun for a step, used in labels. */
  readonly what: string
  /** Index of the last visited step; -1 if none. */
  readonly at: number
  readonly count: number
  readonly go: (index: number) => void
  readonly close: () => void
}

/** Header of a panel that lists steps. On small screens, only this header remains while a step is shown. */
export function StepsHeader({ title, what, at, count, go, close }: StepsHeaderProps): VNode {
  const { panel, showPanel } = useSpace()
  const arrow = (sign: string, to: number, label: string): VNode => (
    <button type="button" aria-label={label} disabled={to < 0 || to >= count} onClick={() => go(to)}>
      {sign}
    </button>
  )
  return (
    <header>
      <h2>{title}</h2>
      {at !== -1 && (
        <span class="steps">
          {what} {at + 1} of {count} {arrow('‹', at - 1, `The ${what} before`)}
          {arrow('›', at + 1, `The next ${what}`)}
          {panel?.isLow === true && (
            <button type="button" class="raise" onClick={() => showPanel({ ...panel, isLow: false })}>
              List
            </button>
          )}
        </span>
      )}
      <CloseButton close={close} />
    </header>
  )
}
