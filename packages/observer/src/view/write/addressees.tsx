import type { VNode } from 'preact'
import { memo, Options } from '../shared/parts.js'

/** Maximum number of addressees in the list; other names have to be typed. */
export const maxListed = 100

interface AddresseesProps {
  readonly to: string
  readonly choose: (to: string) => void
  readonly people: readonly { readonly id: string }[]
  readonly me: string | undefined
}

/** Chooses the readers of a message: everyone, or one participant. */
export const Addressees = memo(({ to, choose, people, me }: AddresseesProps): VNode => {
  const others = people.filter(({ id }) => id !== me)
  if (others.length <= maxListed) {
    return (
      <select aria-label="Readers" value={to} onChange={(event) => choose(event.currentTarget.value)}>
        <Options of={[['', 'everyone'], ...others.map(({ id }) => [id, `only ${id}`] as const)]} />
      </select>
    )
  }
  const like = others.filter(({ id }) => to !== '' && id.startsWith(to)).slice(0, 20)
  return (
    <>
      <input
        class="addressee"
        aria-label="Readers"
        placeholder="everyone, or one participant"
        list="addressees"
        spellcheck={false}
        autocomplete="off"
        value={to}
        onInput={(event) => choose(event.currentTarget.value.trim())}
      />
      <datalist id="addressees">
        {like.map(({ id }) => (
          <option key={id} value={id} />
        ))}
      </datalist>
    </>
  )
})
