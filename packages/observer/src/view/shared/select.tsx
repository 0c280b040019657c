import type { VNode } from 'preact'
import { terms } from '../../model/index.js'
import { Options, type SelectOption } from './parts.js'

interface SelectProps {
  readonly label: string
  readonly name?: string
  readonly value: string
  readonly options: readonly SelectOption[]
  readonly set: (value: string) => void
}

/** A labelled drop-down list. */
export const Select = ({ label, name, value, options, set }: SelectProps): VNode => (
  <label>
    {label}{' '}
    <select
      {...(name !== undefined && { name })}
      value={value}
      onChange={(event) => set(event.currentTarget.value)}
    >
      <Options of={options} />
    </select>
  </label>
)

interface TermProps {
  readonly minutes: string
  readonly set: (minutes: string) => void
  /** Label for an unlimited duration. */
  readonly open?: string
  readonly children: string
}

/** A labelled choice of a duration. */
export const Term = ({ minutes, set, open, children }: TermProps): VNode => (
  <Select
    label={children}
    name="term"
    value={minutes}
    options={terms.map(([each, text]) => [each, each === '' ? (open ?? text) : text])}
    set={set}
  />
)
