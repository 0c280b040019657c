import type { VNode } from 'preact'
import { Chip, Icon } from '../shared/parts.js'

interface AskedProps {
  /** Who alone reads it; `undefined` or nobody = everybody. */
  readonly to: readonly string[] | undefined
  /** Who is asked, while everybody reads it. */
  readonly mentions: readonly string[]
  readonly text: string
}

/** Who alone reads a message, and whom of its readers it asks where its text does not name them. */
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
