import { ProtocolError } from '@meup/agent-sdk/watch'
import { printable } from '@meup/folds'
import type { VNode } from 'preact'
import { explainError } from '../../connect/errors.js'
import { Alert } from './parts.js'

/** Shows an error; for a refusal with code, path in the envelope, reason and hint. */
export function ErrorText({ error }: { error: unknown }): VNode | null {
  if (error === undefined) return null
  if (!(error instanceof ProtocolError)) {
    return <Alert>{explainError(error)}</Alert>
  }
  const { code, message, details, hint } = error
  const path = typeof details?.path === 'string' ? details.path : ''
  const text = message.startsWith(`${path} `) ? message.slice(path.length + 1) : message
  return (
    <Alert>
      <code>{code}</code> <code>{path}</code> <span class="said">{printable(text)}</span>
      <span class="hint dim">{hint}</span>
    </Alert>
  )
}
