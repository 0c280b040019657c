import type { VNode } from 'preact'
import { useDesk } from './desk.js'

/** So many are offered to choose from; beyond that names are written. */
const most = 100

export interface AddresseesProps {
  readonly to: string
  readonly choose: (to: string) => void
}

/** To whom a message goes: everybody, or one. */
export function Addressees({ to, choose }: AddresseesProps): VNode {
  const { session } = useDesk()
  const { people } = session.model
  const me = session.welcome?.you.id
  if (people.length <= most + 1) {
    return (
      <select aria-label="To whom" value={to} onChange={(event) => choose(event.currentTarget.value)}>
        <option value="">to all</option>
        {people
          .filter(({ id }) => id !== me)
          .map(({ id }) => (
            <option key={id} value={id}>
              to {id}
            </option>
          ))}
      </select>
    )
  }
  const like = people.filter(({ id }) => to !== '' && id !== me && id.startsWith(to)).slice(0, 20)
  return (
    <>
      <input
        class="addressee"
        aria-label="To whom"
        placeholder="to all, or whom"
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
}
