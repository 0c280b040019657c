import { ProtocolError } from '@meup/agent-sdk/watch'
import { printable } from '@meup/folds'
import { errors } from '@meup/protocol'
import type { VNode } from 'preact'
import { reasonOf } from '../connect/session.js'

/** What was refused: by which code, where in the envelope, why, and what to do about it. */
export function Problem({ error }: { error: unknown }): VNode | null {
  if (error === undefined) return null
  if (!(error instanceof ProtocolError)) {
    return (
      <p class="problem" role="alert">
        {reasonOf(error)}
      </p>
    )
  }
  const { code, message, details } = error
  const path = typeof details?.path === 'string' ? details.path : ''
  const text = message.startsWith(`${path}: `) ? message.slice(path.length + 2) : message
  return (
    <p class="problem" role="alert">
      <code>{code}</code> {typeof path === 'string' && <code>{path}</code>}{' '}
      <span class="said">{printable(text)}</span>
      <span class="hint dim">{errors[code].hint}</span>
    </p>
  )
}
