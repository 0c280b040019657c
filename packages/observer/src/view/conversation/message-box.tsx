import { readAddressee } from '@meup/folds'
import { Kind } from '@meup/protocol'
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { loadDraft, saveDraft } from '../../connect/storage.js'
import { useSpace } from '../shared/use-space.js'

/** Where a reader says something, to everybody or to one participant: as chosen, or as `@name` at its beginning says. */
export function MessageBox(): VNode {
  const { session, isLive, can, act } = useSpace()
  const { space } = session.place
  const [text, write] = useState(() => loadDraft(space))
  const [to, setTo] = useState('')
  const others = session.model.people.map(({ id }) => id).filter((id) => id !== session.welcome?.you.id)
  const said = text.trim()
  const named = readAddressee(said, others)
  const [message, whom] = named === undefined ? [said, to] : [named.text, named.to]
  const addressed = whom === '' ? {} : { to: [whom] }
  const mayChat = can({ kind: Kind.chat, payload: { message }, ...addressed })
  const setText = (next: string): void => {
    saveDraft(space, next)
    write(next)
  }
  const say = (): void => {
    if (message === '' || !isLive || !mayChat) return
    act('It was not said', async () => {
      await session.client?.chat(message, addressed)
      if (loadDraft(space).trim() === said) setText('')
    })
  }
  const placeholder = session.time.isPast
    ? 'This is the past: LIVE brings you back'
    : mayChat || !isLive
      ? 'Message…'
      : 'You may not chat here'
  return (
    <form
      class="message-box"
      onSubmit={(event) => {
        event.preventDefault()
        say()
      }}
    >
      <Addressees to={whom} choose={setTo} />
      <textarea
        rows={1}
        aria-label="Message"
        dir="auto"
        placeholder={placeholder}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
          event.preventDefault()
          say()
        }}
      />
      <button type="submit" class="primary" disabled={!isLive || !mayChat || text.trim() === ''}>
        Send
      </button>
    </form>
  )
}

/** So many are offered to choose from; beyond that names are written. */
const maxListed = 100

interface AddresseesProps {
  readonly to: string
  readonly choose: (to: string) => void
}

/** To whom a message goes: everybody, or one. */
function Addressees({ to, choose }: AddresseesProps): VNode {
  const { session } = useSpace()
  const { people } = session.model
  const me = session.welcome?.you.id
  if (people.length <= maxListed + 1) {
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
