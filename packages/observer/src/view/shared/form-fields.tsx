import { type Filled, type FormField, printable, readFilled } from '@meup/folds'
import type { VNode } from 'preact'
import { Checkbox, Options } from './parts.js'

/** Validates the fields of a form; returns their values, and the problem of each invalid one. */
export function readContent(fields: readonly FormField[], filled: ReadonlyMap<string, Filled>) {
  const content: Record<string, unknown> = {}
  const wrong = new Map<string, string>()
  for (const field of fields) {
    const read = readFilled(field, filled.get(field.name) ?? field.initial)
    if ('problem' in read) wrong.set(field.name, read.problem)
    else if (read.value !== undefined) content[field.name] = read.value
  }
  return { content, wrong }
}

interface FormFieldsProps {
  readonly fields: readonly FormField[]
  readonly filled: Map<string, Filled>
  readonly problems: ReadonlyMap<string, string>
  readonly redraw: () => void
}

export const FormFields = ({ fields, filled, problems, redraw }: FormFieldsProps): VNode => (
  <>
    {fields.map((field) => {
      const { name, label, description } = field
      const problem = problems.get(name)
      const set = (value: Filled): void => {
        filled.set(name, value)
        redraw()
      }
      return (
        <div key={name} class="field">
          <Field field={field} filled={filled.get(name) ?? field.initial} set={set} />
          {description !== '' && <span class="dim said">{printable(description)}</span>}
          {problem !== undefined && (
            <span class="problem" role="alert">
              {printable(label)} {problem}
            </span>
          )}
        </div>
      )
    })}
  </>
)

interface FieldProps {
  readonly field: FormField
  readonly filled: Filled
  readonly set: (filled: Filled) => void
}

const inputTypes = { email: 'email', uri: 'url', date: 'date', 'date-time': 'text' } as const

function Field({ field, filled, set }: FieldProps): VNode {
  const { type, label, isRequired, format, options } = field
  const title = `${printable(label)}${isRequired || type === 'boolean' ? '' : ' (may be empty)'}`
  if (type === 'boolean') {
    return (
      <Checkbox checked={filled === true} set={set}>
        {title}
      </Checkbox>
    )
  }
  if (type === 'choices') {
    const chosen = Array.isArray(filled) ? filled : []
    return (
      <fieldset>
        <legend>{title}</legend>
        {options.map(({ value, label }) => (
          <Checkbox
            key={value}
            checked={chosen.includes(value)}
            set={(isChosen) => set(isChosen ? [...chosen, value] : chosen.filter((each) => each !== value))}
          >
            {printable(label)}
          </Checkbox>
        ))}
      </fieldset>
    )
  }
  const text = String(filled)
  if (type === 'choice') {
    return (
      <label>
        {title}{' '}
        <select value={text} onChange={(event) => set(event.currentTarget.value)}>
          <Options
            of={[['', '–'], ...options.map(({ value, label }) => [value, printable(label)] as const)]}
          />
        </select>
      </label>
    )
  }
  return (
    <label>
      {title}{' '}
      <input
        type={format === undefined ? 'text' : inputTypes[format]}
        inputMode={type === 'text' ? undefined : 'decimal'}
        value={text}
        spellcheck={false}
        onInput={(event) => set(event.currentTarget.value)}
      />
    </label>
  )
}
