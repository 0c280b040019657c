import { contextRoot, type Envelope, Kind } from '@meup/protocol'
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { useOpened } from '../shared/opened.js'
import { useSpace } from '../shared/use-space.js'

const maxChars = 4000

/** Adds a thought to the run of a thought, about it, while the run goes on. */
export function ReplyToThought({ thought: { id, from, context = '' } }: { thought: Envelope }): VNode | null {
  const { session, can, isLive, act } = useSpace()
  const [isOpen, toggle] = useOpened(`reply ${id}`)
  const [text, setText] = useState('')
  const run = contextRoot(context)
  const goesOn = session.model.runs().some((each) => each.context === run)
  const isMine = from === session.welcome?.you.id
  if (isMine || !goesOn || !can({ kind: Kind.reasoningThought, context, payload: {} })) return null
  if (!isOpen)
    return (
      <button
        type="button"
        class="link reply-button"
        aria-label={`Reply to what ${from} thinks`}
        onClick={toggle}
      >
        Reply
      </button>
    )
  return (
    <form
      class="decision"
      onSubmit={(event) => {
        event.preventDefault()
        if (text.trim() === '') return
        toggle()
        setText('')
        act('It was not sent', () =>
          Promise.resolve(session.client?.contribute(context, text.trim(), { to: id })),
        )
      }}
    >
      <input
        aria-label={`What you think about it`}
        placeholder={`${from} reads it before it goes on`}
        maxLength={maxChars}
        value={text}
        ref={(field) => field?.focus()}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button type="submit" class="primary" disabled={!isLive || text.trim() === ''}>
        Reply
      </button>
      <button type="button" onClick={toggle}>
        Cancel
      </button>
    </form>
  )
}
