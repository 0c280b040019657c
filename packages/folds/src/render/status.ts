import { correlations, type Envelope, Kind } from '@meup/protocol'
import { Bounded } from '../bounded.js'
import { isNotification, shownToolName } from '../mcp/calls.js'
import type { ReasoningStep } from '../steps/steps.js'
import { cut, onOneLine } from '../text.js'
import { plainStyle, type Style } from './reasoning.js'

const maxPreviewChars = 80

/** Live lines of what goes on: `○ Thinking...`, `○ <tool>` when it is called, `● <tool>` when it is done. */
export function createStatusLines(style: Style = plainStyle): (envelope: Envelope) => string[] {
  const called = new Bounded<string>(1000)
  const line = (mark: string, name: string): string => `${style.section(`  ${mark} `)}${style.tool(name)}`
  return (envelope) => {
    const { id, kind, context, payload } = envelope
    if (kind === Kind.reasoningStart && context === undefined) return [style.section('  ○ Thinking...')]
    if (kind === Kind.mcpRequest && !isNotification(payload)) {
      const tool = onOneLine(shownToolName(payload))
      called.set(id, tool)
      return [line('○', tool)]
    }
    if (kind !== Kind.mcpResponse) return []
    const tool = correlations(envelope).flatMap((request) => called.get(request) ?? [])[0]
    return tool === undefined ? [] : [line('●', tool)]
  }
}

/** What follows `● <tool>`: the beginning of what it gave back, `▸ Found 3 documents`, of the step of the audit about it. */
export function previewLines(
  { phase, content }: Pick<ReasoningStep, 'phase' | 'content'>,
  style: Style = plainStyle,
): string[] {
  const said = content.slice(content.indexOf(arrow) + arrow.length)
  const preview = cut(onOneLine(phase === 'error' ? `error: ${said}` : said), maxPreviewChars)
  return preview === '' ? [] : [style.section(`    ▸ ${preview}`)]
}

const arrow = ' -> '
