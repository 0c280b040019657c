import type { VNode } from 'preact'
import { Chip, Icon } from '../shared/parts.js'

interface AskedProps {
  /** The only readers; `undefined` or empty means everyone. */
  readonly to: readonly string[] | undefined
  /** Mentioned participants of a message that everyone can read. */
  readonly mentions: readonly string[]
  readonly text: string
}

/** Names a message's only readers, and mentions that its text does not contain. */
export function Asked({ to, mentions, text }: AskedProps): VNode {
  const unnamed = mentions.filter((id) => !text.includes(`@${id}`))
  return (
    <>
      {to !== undefined && to.length > 0 && (
        <Chip kind="private">
          <Icon sign="lock" /> only {to.join(', ')}
        </Chip>
      )}
      {unnamed.map((id) => (
        <Chip key={id}>@{id}</Chip>
      ))}
    </>
  )
}
