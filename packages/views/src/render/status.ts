import { correlations, type Envelope, Kind } from '@meup/protocol'
import { Bounded } from '../bounded.js'
import { isNotification, toolNameOf } from '../mcp/call.js'
import { defaultGuard } from '../mcp/guard.js'
import type { Guard } from '../mcp/redact.js'
import { readResult } from '../mcp/result.js'
import { cut } from '../text.js'
import { onOneLine } from './printable.js'
import { plainStyle, type Style } from './style.js'

const longestPreview = 80

/** Live lines of what goes on: `○ Thinking...`, `○ <tool>` when it is called, `● <tool>` and a preview when it is done. */
export function createStatusLines(
  style: Style = plainStyle,
  guard: Guard = defaultGuard,
): (envelope: Envelope) => string[] {
  const called = new Bounded<string>(1000)
  const line = (mark: string, name: string): string => `${style.section(`  ${mark} `)}${style.tool(name)}`
  return (envelope) => {
    const { id, kind, context, payload } = envelope
    if (kind === Kind.reasoningStart && context === undefined) return [style.section('  ○ Thinking...')]
    if (kind === Kind.mcpRequest && !isNotification(payload)) {
      const tool = onOneLine(toolNameOf(payload))
      called.set(id, tool)
      return [line('○', tool)]
    }
    if (kind !== Kind.mcpResponse) return []
    const tool = correlations(envelope).flatMap((request) => called.get(request) ?? [])[0]
    if (tool === undefined) return []
    const { outcome, text } = readResult(payload, guard)
    const preview = cut(onOneLine(outcome === 'error' ? `error: ${text}` : text), longestPreview)
    return [line('●', tool), ...(preview === '' ? [] : [style.section(`    ▸ ${preview}`)])]
  }
}
