import { type StartOptions, start } from './support.js'

export const participants = { ana: ['*'], ben: ['*'], tools: ['*'] } as const
export const key = 'EXK-0123456789AB'
export const mark = '[redacted:example-key]'
const safety = {
  rules: [
    {
      name: 'example-key',
      pattern: 'EXK-[A-Z0-9]{12}',
      keywords: ['exk-'],
      action: 'mask',
    },
    { name: 'no-plans', pattern: 'launch code', action: 'block' },
  ],
} as const

/** A logger that keeps its lines. */
export function operatorLog() {
  const lines: { level: string; message: string; fields: Record<string, unknown> }[] = []
  const log = (level: string) => (fields: object, message: string) =>
    void lines.push({ level, message, fields: { ...fields } })
  return { lines, logger: { info: log('info'), warn: log('warn'), error: log('error') } }
}

/** A gateway with these masking rules, two connected participants, and the lines of the operator's log. */
export async function guarded(options: Partial<StartOptions> = {}) {
  const log = operatorLog()
  const running = await start({ participants, safety, logger: log.logger, ...options })
  const [ana, ben] = [await running.connect('ana'), await running.connect('ben')]
  return { running, ana, ben, lines: log.lines }
}

export const thought = (message: string, more: object = {}) => ({
  kind: 'reasoning.thought',
  context: 'free',
  payload: { message, ...more },
})
export const call = (rationale?: string) => ({
  kind: 'mcp.request',
  to: ['tools'],
  ...(rationale !== undefined && { rationale }),
  payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'x', arguments: { key } } },
})
