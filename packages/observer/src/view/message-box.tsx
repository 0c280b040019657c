import { Kind } from '@meup/protocol'
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { useDesk } from './desk.js'

/** Where a reader says something, to everybody or to one participant. */
export function MessageBox(): VNode {
  const { session, isLive, can, act } = useDesk()
  const [text, setText] = useState('')
  const [to, setTo] = useState('')
  const addressed = to === '' ? {} : { to: [to] }
  const mayChat = can({ kind: Kind.chat, payload: { message: text }, ...addressed })
  const others = session.model.people.filter(({ id }) => id !== session.welcome?.you.id)
  const say = (): void => {
    const message = text.trim()
    if (message === '' || !isLive || !mayChat) return
    act('It was not said', async () => {
      await session.desk?.chat(message, addressed)
      setText((now) => (now.trim() === message ? '' : now))
    })
  }
  return (
    <form
      class="message-box"
      onSubmit={(event) => {
        event.preventDefault()
        say()
      }}
    >
      <select aria-label="To whom" value={to} onChange={(event) => setTo(event.currentTarget.value)}>
        <option value="">to all</option>
        {others.map(({ id }) => (
          <option key={id} value={id}>
            to {id}
          </option>
        ))}
      </select>
      <textarea
        rows={1}
        aria-label="Message"
        dir="auto"
        placeholder={mayChat || !isLive ? 'Message…' : 'You may not chat here'}
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
