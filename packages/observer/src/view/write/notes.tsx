import type { Envelope } from '@meup/protocol'
import type { VNode } from 'preact'
import { questionText } from '../../model/index.js'
import { Name } from '../shared/parts.js'

/** The message that the draft replies to. */
export const Replied = ({ to, drop }: { to: Envelope; drop: () => void }): VNode => (
  <p class="replied dim">
    ↳ <Name id={to.from} />
    <span class="said">{questionText(to)}</span>
    <button type="button" class="link" aria-label="Do not reply to it" onClick={drop}>
      ✕
    </button>
  </p>
)

interface NoteProps {
  readonly mention: readonly string[]
  readonly to: string
  /** The problem with the draft; `''` if there is none. */
  readonly problem: string
}

/** Note below the draft: its addressees, or its problem. */
export function DraftNote({ mention, to, problem }: NoteProps): VNode {
  const excluded = to === '' ? [] : mention.filter((id) => id !== to)
  const wrong =
    problem || (excluded.length > 0 && `${excluded.join(', ')} cannot read this: it is for ${to} alone`)
  const asked =
    to === '' && mention.length > 0
      ? `${mention.join(', ')} ${mention.length === 1 ? 'answers' : 'answer'}`
      : ''
  return (
    <span class={`note ${wrong ? 'warn' : 'dim'}`} role="status">
      {wrong || asked}
    </span>
  )
}
