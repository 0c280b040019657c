import { quoteThought } from '@meup/folds'
import { contextRoot, type Envelope, Kind } from '@meup/protocol'
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { useOpened } from '../shared/opened.js'
import { useSpace } from '../shared/use-space.js'

const maxChars = 4000

interface BoxProps {
  readonly thought: Envelope
  readonly name: string
  readonly label: string
  readonly placeholder: string
  send(text: string): Promise<unknown> | undefined
}

/** Actions on a thought: a reply to its running run, or a question that is answered in a separate run. */
export function ThoughtActions({ thought }: { thought: Envelope }): VNode | null {
  const { session, can } = useSpace()
  const { id, from, context = '' } = thought
  if (from === session.welcome?.you.id) return null
  const run = contextRoot(context)
  const goesOn = session.model.runs().some((each) => each.context === run)
  return (
    <>
      {goesOn && can({ kind: Kind.reasoningThought, context, payload: {} }) && (
        <ThoughtBox
          thought={thought}
          name="Reply"
          label={`Reply to what ${from} thinks`}
          placeholder={`${from} reads it before its next step`}
          send={(text) => session.client?.contribute(context, text, { to: id })}
        />
      )}
      {can({ kind: Kind.chat, payload: { message: '', mentions: [from] } }) && (
        <ThoughtBox
          thought={thought}
          name="Ask about this"
          label={`Ask about this thought of ${from}`}
          placeholder={`${from} answers, and its run continues`}
          send={(text) =>
            session.client?.chat(quoteThought(thought, text), {
              mention: from,
              correlationId: id,
              format: 'markdown',
            })
          }
        />
      )}
    </>
  )
}

function ThoughtBox({ thought: { id }, name, label, placeholder, send }: BoxProps): VNode {
  const { isLive, act } = useSpace()
  const [isOpen, toggle] = useOpened(`${name} ${id}`)
  const [text, setText] = useState('')
  if (!isOpen)
    return (
      <button type="button" class="link reply-button" aria-label={label} onClick={toggle}>
        {name}
      </button>
    )
  return (
    <form
      class="decision"
      onSubmit={(event) => {
        event.preventDefault()
        const said = text.trim()
        if (said === '') return
        toggle()
        setText('')
        act('It was not sent', () => Promise.resolve(send(said)))
      }}
    >
      <input
        aria-label={label}
        placeholder={placeholder}
        maxLength={maxChars}
        value={text}
        ref={(field) => field?.focus()}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button type="submit" class="primary" disabled={!isLive || text.trim() === ''}>
        {name}
      </button>
      <button type="button" onClick={toggle}>
        Cancel
      </button>
    </form>
  )
}
